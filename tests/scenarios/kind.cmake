# SPDX-License-Identifier: Apache-2.0
# The simulator against the vectorised numpy script, other code for the same statistics. Exits 77 (skipped) without
# numpy or the published data.
find_program(COUNTERPOISE_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(COUNTERPOISE_PYTHON)
  add_test(NAME scenarios.SimulateAgreesWithNumpy
           COMMAND ${COUNTERPOISE_PYTHON} ${PROJECT_SOURCE_DIR}/bench/simulate_numpy.py --no-timing --steps 5000
                   --binary $<TARGET_FILE:counterpoise> --data ${COUNTERPOISE_DATA})
  set_tests_properties(scenarios.SimulateAgreesWithNumpy PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS slow)
endif()

# The built-in profiles are, byte for byte, what their scripts derive from the published tables; skipped without them.
if(COUNTERPOISE_PYTHON)
  add_test(NAME scenarios.BuiltInProfilesAreDerived
           COMMAND ${COUNTERPOISE_PYTHON} ${PROJECT_SOURCE_DIR}/tools/derive_built_in_profiles.py --check
                   $<TARGET_FILE:counterpoise> ${COUNTERPOISE_DATA}/calibration)
  set_tests_properties(scenarios.BuiltInProfilesAreDerived PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
