// SPDX-License-Identifier: Apache-2.0
// Tables as others write them, and as nobody should: the error names the line, the column and the rule.
#include "command.h"

namespace counterpoise {
namespace {

constexpr const char* kHeader = "gpu,cp,head_dim,nhead,tokens,dtype,fwd(us),bwd(us)\n";

// Twelve calls, more than the seven coefficients and their cross-validation take.
std::string rows(const std::string& prefix = "A,1,128,4,", const std::string& end = "\n") {
  std::string text;
  for (int i = 1; i <= 12; ++i) {
    const int tokens = 512 * i;
    text += prefix + std::to_string(tokens) + ",half," + std::to_string(50 + tokens * tokens / 50000) + "," +
            std::to_string(90 + tokens * tokens / 20000) + end;
  }
  return text;
}

Outcome calibrate(const std::string& content, const std::string& options = "") {
  const ScratchFile table("hostile.csv", content);
  return run_counterpoise("calibrate --neighbours off --table " + table.path() + " " + options);
}

void expect_refused(const Outcome& outcome, int exit_code, const std::string& words) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.output;
  EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output << "\nlacks: " << words;
}

TEST(HostileTables, EncodingsOfOneTableFitAlike) {
  const std::string plain = calibrate(kHeader + rows()).output;
  ASSERT_NE(plain.find("forward: 12 calls"), std::string::npos) << plain;
  std::string crlf = kHeader + rows();
  for (size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.insert(at, "\r");
  std::string only_cr = kHeader + rows();
  std::replace(only_cr.begin(), only_cr.end(), '\n', '\r');
  const std::string quoted = "\"gpu\",\"cp\",\"head_dim\",\"nhead\",\"tokens\",dtype,\"fwd(us)\",bwd(us)\n" +
                             rows("\"A\",\"1\",128,\"4\",");
  for (const std::string& text :
       {"\xef\xbb\xbf" + (kHeader + rows()), crlf, only_cr, quoted, "# a comment, \"\n" + (kHeader + rows())})
    EXPECT_EQ(calibrate(text).output, plain) << text.substr(0, 60);
  // The mark stood before a column that is needed, a quoted cell holds the separator.
  const std::string without_gpu = std::string(kHeader).substr(4) + rows("1,128,4,");
  EXPECT_EQ(calibrate("\xef\xbb\xbf" + without_gpu).exit_code, 0);
  EXPECT_EQ(calibrate(kHeader + rows("\"A, 80 GB\",1,128,4,")).exit_code, 0);
}

TEST(HostileTables, CellsAreNamedWithTheirRule) {
  const std::pair<const char*, const char*> cases[] = {
      {"A,1,128,4,1024,half,nan,9\n", ":2: column fwd(us): \"nan\" is not a number"},
      {"A,1,128,4,1024,half,0x10,9\n", ":2: column fwd(us): \"0x10\" is not a number"},
      {"A,1,128,4,1024,half,1e300,9\n", ":2: column fwd(us): 1e300 is 1e+294 seconds"},
      {"A,1,128,4,9007199254740992,half,1,9\n", ":2: column tokens: 9007199254740992 is more than"},
      {"A,9007199254740992,128,4,64,half,1,9\n", ":2: column cp: 9007199254740992 is more than"},
      {"A,1,128,9007199254740992,64,half,1,9\n", ":2: column nhead: 9007199254740992 is more than"}};
  for (const auto& [row, words] : cases) expect_refused(calibrate(std::string(kHeader) + row), 3, words);
  expect_refused(calibrate(std::string("\xff\xfeg\0p\0", 6)), 3, ": byte 3: a zero byte");
  expect_refused(calibrate("tokens," + (kHeader + rows("1024,A,1,128,4,"))), 3,
                 "the header names column 'tokens' twice");
}

TEST(HostileTables, RowsThatAreNoCallAreNamed) {
  const std::string header = "total_len|batch_size|tp|cp|total_latency(ms)|hqo|hkv|d\n";
  const std::pair<const char*, const char*> cases[] = {
      {"32768|1000000000000|1|1|1|64|4|128\n", ":2: column batch_size: 1000000000000 is more than"},
      {"1000000|1000000|1|1|1|64|4|128\n", ""},
      {"32|1024|1|1|1|64|4|128\n", ":2: column total_len: 32 tokens in 1024 documents"},
      {"0|1|1|1|1|64|4|128\n", ":2: column total_len: 0 tokens in 1 documents"},
      {"1024|1|3|1|1|64|4|128\n", ":2: column hqo: 64 heads cannot be divided by tp = 3"},
      {"1024|1|1|1|1|64|5|128\n", ":2: column hkv: 5 kv heads do not divide 64 query heads"}};
  for (const auto& [row, words] : cases) expect_refused(calibrate(header + row), 3, words);
  std::string many = header;
  for (int i = 0; i < 5; ++i) many += "1000000|1000000|1|1|1|64|4|128\n";
  expect_refused(calibrate(many), 3, ":6: more than 4194304 documents");
  expect_refused(calibrate("q,k,t\n10,5,1\n", "--column q_rows=q --column kv_rows=k --column forward=t"), 3,
                 ":2: column q: 10 q rows see only 5 kv rows");
}

TEST(HostileTables, TooFewAndTooManyRowsAreSaidWithTheFile) {
  expect_refused(calibrate(std::string(kHeader) + "A,1,128,4,1024,half,1,9\n"), 3,
                 "hostile.csv: 1 rows; a fit of 6 coefficients and its cross-validation take 8 at least");
  std::string many = kHeader;
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 1000; ++j) many += "A,1,128,4,1024,half,1,9\n";
  expect_refused(calibrate(many), 3, "hostile.csv: 40000 rows; 20000 are fitted at most, keep every 2th");
}

TEST(HostileTables, UnitsAreReadOrRefused) {
  const auto fitted = [](const std::string& column, const std::string& given) {
    std::string text = "n," + column + "\n";
    for (int i = 1; i <= 12; ++i) text += std::to_string(512 * i) + "," + std::to_string(5 + i * i) + "\n";
    return calibrate(text, "--name x --column tokens=n --column 'forward=" + given + "'");
  };
  const std::string ms = fitted("t_ms", "t_ms").output;
  const auto prices = [](const std::string& text) {
    return text.substr(std::min(text.find("forward:"), text.size()));
  };
  for (const char* name : {"t(ms)", "t [ms]", "t_msec", "t(MS)", "t_milliseconds"})
    EXPECT_EQ(prices(fitted(name, name).output), prices(ms)) << name;
  EXPECT_EQ(prices(fitted("t", "t:ms").output), prices(ms));
  EXPECT_NE(prices(fitted("t", "t").output), prices(ms));
  expect_refused(fitted("t", "t:hours"), 3, "'hours' is not a unit of time");
  expect_refused(fitted("t(min)", "t(min)"), 3, "'min' is not a unit of time");
  expect_refused(fitted("t", ""), 2, "names no column");
  expect_refused(calibrate("n,t\n1,1\n", "--column tokens=n --column tokens=t --column forward=t"), 2,
                 "--column names tokens twice");
}

TEST(HostileTables, LinksOfTwoRowsFitAndOneSizeIsRefused) {
  const auto links = [](const std::string& rows) {
    const ScratchFile table("links.csv", rows);
    return run_counterpoise("calibrate --links-table " + table.path());
  };
  const Outcome two = links("num_nodes,size(kb),time(us)\n1,1,6\n1,1024,90\n");
  EXPECT_EQ(two.exit_code, 0) << two.output;
  EXPECT_NE(two.output.find("too few rows for cross-validation"), std::string::npos) << two.output;
  expect_refused(links("num_nodes,size(kb),time(us)\n1,0,6\n1,0,7\n"), 3, "links.csv: line 2: ");
  expect_refused(links("num_nodes,size(kb),time(us)\n0,1,6\n"), 3, ":2: column num_nodes: 0 is not from 1");
  expect_refused(links("op,ngpu,size_bytes,t_us_out\nall_gather,2,1e300,1\n"), 3, ":2: column size_bytes: ");
  EXPECT_EQ(links("\xef\xbb\xbf\"num_nodes\",size(kb),time(us)\r\n1,1,6\r\n1,1024,90\r\n").exit_code, 0);
}

TEST(HostileTables, AStreamIsReadOnce) {
  const ScratchFile table("stream.csv", kHeader + rows());
  const Outcome piped = run_shell("bash -c '" COUNTERPOISE_BINARY " validate --profile a100 --table <(cat " +
                                  table.path() + ")'");
  EXPECT_EQ(piped.exit_code, 0) << piped.output;
  const Outcome links =
      run_shell("printf 'num_nodes,size(kb),time(us)\\n1,1,6\\n1,1024,90\\n' | " COUNTERPOISE_BINARY
                " validate --profile h100-sendrecv --table -");
  EXPECT_EQ(links.exit_code, 0) << links.output;
  EXPECT_NE(links.output.find("no part has a threshold"), std::string::npos) << links.output;
}

}  // namespace
}  // namespace counterpoise
