// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order in which tile machines sum the products of a row, for V's lanes: begun with what the row holds,
// then fed 16 words (32 elements), each an even and an odd element.
namespace counterpoise {

// TDPBF16PS: even and odd products apart, from zero; their sum is added to the row.
template <class V>
class EvenAndOddApart {
 public:
  using Reg = typename V::Reg;

  explicit EvenAndOddApart(Reg row) : row_(row), even_(V::zero()), odd_(V::zero()) {}
  void add(Reg even, Reg x_even, Reg odd, Reg x_odd) {
    even_ = V::fma(even, x_even, even_);
    odd_ = V::fma(odd, x_odd, odd_);
  }
  Reg sum() const { return V::add(row_, V::add(even_, odd_)); }

 private:
  Reg row_, even_, odd_;
};

// VDPBF16PS: onto the row, the odd product of a word before the even one.
template <class V>
class OddThenEven {
 public:
  using Reg = typename V::Reg;

  explicit OddThenEven(Reg row) : row_(row) {}
  void add(Reg even, Reg x_even, Reg odd, Reg x_odd) {
    row_ = V::fma(even, x_even, V::fma(odd, x_odd, row_));
  }
  Reg sum() const { return row_; }

 private:
  Reg row_;
};

}  // namespace counterpoise
