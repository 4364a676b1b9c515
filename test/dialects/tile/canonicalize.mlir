// RUN: tile-opt %s -p canonicalize | filecheck %s

// Integers of no width divide toward zero.
// CHECK-LABEL: func.func @weak_integers(
// CHECK-NEXT:    %{{.*}} = tile.constant -3 : tensor<index>
// CHECK-NEXT:    func.return
func.func @weak_integers() -> (tensor<index>) {
  %a = tile.constant -7 : tensor<index>
  %b = tile.constant 2 : tensor<index>
  %r = tile.div %a, %b : (tensor<index>, tensor<index>) -> tensor<index>
  func.return %r : tensor<index>
}

// An integer and a real of no width make a real.
// CHECK-LABEL: func.func @weak_reals(
// CHECK-NEXT:    %{{.*}} = tile.constant -3.5 : tensor<!tile.real>
// CHECK-NEXT:    func.return
func.func @weak_reals() -> (tensor<!tile.real>) {
  %a = tile.constant -7 : tensor<index>
  %b = tile.constant 0.5 : tensor<!tile.real>
  %r = tile.mul %a, %b : (tensor<index>, tensor<!tile.real>) -> tensor<!tile.real>
  func.return %r : tensor<!tile.real>
}

// Integers wrap in their own type.
// CHECK-LABEL: func.func @wrapping(
// CHECK-NEXT:    %{{.*}} = tile.constant 144 : tensor<ui8>
// CHECK-NEXT:    func.return
func.func @wrapping() -> (tensor<ui8>) {
  %a = tile.constant 200 : tensor<ui8>
  %r = tile.add %a, %a : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
  func.return %r : tensor<ui8>
}

// A comparison folds to 0 or 1.
// CHECK-LABEL: func.func @comparison(
// CHECK-NEXT:    %{{.*}} = tile.constant 1 : tensor<i1>
// CHECK-NEXT:    func.return
func.func @comparison() -> (tensor<i1>) {
  %a = tile.constant -7 : tensor<index>
  %b = tile.constant 0.5 : tensor<!tile.real>
  %r = tile.cmp_lt %a, %b : (tensor<index>, tensor<!tile.real>) -> tensor<i1>
  func.return %r : tensor<i1>
}

// A cast wraps.
// CHECK-LABEL: func.func @cast_integer(
// CHECK-NEXT:    %{{.*}} = tile.constant -56 : tensor<i8>
// CHECK-NEXT:    func.return
func.func @cast_integer() -> (tensor<i8>) {
  %a = tile.constant 200 : tensor<ui8>
  %r = tile.cast %a : (tensor<ui8>) -> tensor<i8>
  func.return %r : tensor<i8>
}

// A cast rounds.
// CHECK-LABEL: func.func @cast_real(
// CHECK-NEXT:    %{{.*}} = tile.constant 0.10000000149011612 : tensor<f32>
// CHECK-NEXT:    func.return
func.func @cast_real() -> (tensor<f32>) {
  %a = tile.constant 0.1 : tensor<f64>
  %r = tile.cast %a : (tensor<f64>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// An integer divided by zero is zero.
// CHECK-LABEL: func.func @by_zero(
// CHECK-NEXT:    %{{.*}} = tile.constant 0 : tensor<index>
// CHECK-NEXT:    func.return
func.func @by_zero() -> (tensor<index>) {
  %a = tile.constant 7 : tensor<index>
  %b = tile.constant 0 : tensor<index>
  %r = tile.div %a, %b : (tensor<index>, tensor<index>) -> tensor<index>
  func.return %r : tensor<index>
}

// A known size is a number.
// CHECK-LABEL: func.func @size(
// CHECK-NEXT:    %{{.*}} = tile.constant 12 : tensor<index>
// CHECK-NEXT:    func.return
func.func @size() -> (tensor<index>) {
  %n = arith.constant 12 : index
  %r = tile.size %n : tensor<index>
  func.return %r : tensor<index>
}

// A condition that is known chooses.
// CHECK-LABEL: func.func @select_true(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @select_true(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 1 : tensor<i1>
  %r = tile.select %c, %a, %b : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// And 0 chooses the last.
// CHECK-LABEL: func.func @select_false(
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @select_false(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 0 : tensor<i1>
  %r = tile.select %c, %a, %b : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// But not if the choice must be stretched.
// CHECK-LABEL: func.func @select_stretched(
// CHECK-NEXT:    %c = tile.constant 1 : tensor<i1>
// CHECK-NEXT:    %r = tile.select %c, %a, %b
func.func @select_stretched(%a: tensor<f32>, %b: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 1 : tensor<i1>
  %r = tile.select %c, %a, %b : (tensor<i1>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// The identity and the cast to the same type go.
// CHECK-LABEL: func.func @ident(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @ident(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %i = tile.ident %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.cast %i : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// x sub 0 is x.
// CHECK-LABEL: func.func @sub_zero(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @sub_zero(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.sub %a, %c : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// x mul 1 is x.
// CHECK-LABEL: func.func @mul_one(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @mul_one(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 1 : tensor<index>
  %r = tile.mul %a, %c : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// 1 mul x is x.
// CHECK-LABEL: func.func @one_mul(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @one_mul(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 1 : tensor<index>
  %r = tile.mul %c, %a : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// x div 1 is x.
// CHECK-LABEL: func.func @div_one(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @div_one(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 1 : tensor<index>
  %r = tile.div %a, %c : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// x pow 1 is x.
// CHECK-LABEL: func.func @pow_one(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @pow_one(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 1 : tensor<index>
  %r = tile.pow %a, %c : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Powers by small integers are products.
// CHECK-LABEL: func.func @pow_square(
// CHECK-NEXT:    %r = tile.mul %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @pow_square(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 2.0 : tensor<f32>
  %r = tile.pow %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @pow_cube_of_integers(
// CHECK-NEXT:    [[SQUARE:%.*]] = tile.mul %a, %a
// CHECK-NEXT:    [[PRODUCT:%.*]] = tile.mul [[SQUARE]], %a
// CHECK-NEXT:    func.return [[PRODUCT]] : tensor<4xi32>
func.func @pow_cube_of_integers(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 3 : tensor<index>
  %r = tile.pow %a, %c : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @pow_four(
// CHECK-NEXT:    [[SQUARE:%.*]] = tile.mul %a, %a
// CHECK-NEXT:    [[PRODUCT:%.*]] = tile.mul [[SQUARE]], [[SQUARE]]
// CHECK-NEXT:    func.return [[PRODUCT]] : tensor<4xf32>
func.func @pow_four(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 4 : tensor<index>
  %r = tile.pow %a, %c : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// A power by -1 is a reciprocal, for reals.
// CHECK-LABEL: func.func @pow_minus_one(
// CHECK-NEXT:    %r = tile.recip %a : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %r : tensor<4xf32>
func.func @pow_minus_one(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant -1.0 : tensor<f32>
  %r = tile.pow %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @pow_minus_one_of_integers(
// CHECK:         tile.pow
func.func @pow_minus_one_of_integers(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant -1 : tensor<index>
  %r = tile.pow %a, %c : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// A power by 0.5 stays, as a square root has another result for -0 and -infinity.
// CHECK-LABEL: func.func @pow_half(
// CHECK:         tile.pow
func.func @pow_half(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 0.5 : tensor<f32>
  %r = tile.pow %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// x add 0 is x, for integers.
// CHECK-LABEL: func.func @add_zero(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @add_zero(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.add %a, %c : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// 0 add x is x, for integers.
// CHECK-LABEL: func.func @zero_add(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @zero_add(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.add %c, %a : (tensor<index>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// x bit_or 0 is x, for integers.
// CHECK-LABEL: func.func @or_zero(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @or_zero(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.bit_or %a, %c : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// 0 bit_or x is x, for integers.
// CHECK-LABEL: func.func @zero_or(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @zero_or(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.bit_or %c, %a : (tensor<index>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// x bit_xor 0 is x, for integers.
// CHECK-LABEL: func.func @xor_zero(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @xor_zero(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.bit_xor %a, %c : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// 0 bit_xor x is x, for integers.
// CHECK-LABEL: func.func @zero_xor(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @zero_xor(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.bit_xor %c, %a : (tensor<index>, tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// x bit_left 0 is x, for integers.
// CHECK-LABEL: func.func @left_zero(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @left_zero(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.bit_left %a, %c : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// x bit_right 0 is x, for integers.
// CHECK-LABEL: func.func @right_zero(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @right_zero(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.bit_right %a, %c : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// But x + 0 is not x where x is -0.0.
// CHECK-LABEL: func.func @real_add_zero(
// CHECK-NEXT:    %c = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %r = tile.add %a, %c
func.func @real_add_zero(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant 0 : tensor<index>
  %r = tile.add %a, %c : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Nor is x - -0.0.
// CHECK-LABEL: func.func @sub_minus_zero(
// CHECK-NEXT:    %c = tile.constant -0.0 : tensor<!tile.real>
// CHECK-NEXT:    %r = tile.sub %a, %c
func.func @sub_minus_zero(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant -0.0 : tensor<!tile.real>
  %r = tile.sub %a, %c : (tensor<4xf32>, tensor<!tile.real>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Nor x * 1.0 where x is an integer.
// CHECK-LABEL: func.func @mul_changes_type(
// CHECK-NEXT:    %c = tile.constant 1.0 : tensor<!tile.real>
// CHECK-NEXT:    %r = tile.mul %a, %c
func.func @mul_changes_type(%a: tensor<4xi32>) -> (tensor<4xf32>) {
  %c = tile.constant 1.0 : tensor<!tile.real>
  %r = tile.mul %a, %c : (tensor<4xi32>, tensor<!tile.real>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// neg undoes itself.
// CHECK-LABEL: func.func @twice_neg(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @twice_neg(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %b = tile.neg %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.neg %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// bit_not undoes itself.
// CHECK-LABEL: func.func @twice_bit_not(
// CHECK-NEXT:    func.return %a : tensor<4xi32>
func.func @twice_bit_not(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %b = tile.bit_not %a : (tensor<4xi32>) -> tensor<4xi32>
  %r = tile.bit_not %b : (tensor<4xi32>) -> tensor<4xi32>
  func.return %r : tensor<4xi32>
}

// abs of abs is abs.
// CHECK-LABEL: func.func @again_abs(
// CHECK-NEXT:    %b = tile.abs %a : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @again_abs(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %b = tile.abs %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.abs %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// relu of relu is relu.
// CHECK-LABEL: func.func @again_relu(
// CHECK-NEXT:    %b = tile.relu %a : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @again_relu(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %b = tile.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// ceil of ceil is ceil.
// CHECK-LABEL: func.func @again_ceil(
// CHECK-NEXT:    %b = tile.ceil %a : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @again_ceil(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %b = tile.ceil %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.ceil %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// floor of floor is floor.
// CHECK-LABEL: func.func @again_floor(
// CHECK-NEXT:    %b = tile.floor %a : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @again_floor(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %b = tile.floor %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.floor %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// round of round is round.
// CHECK-LABEL: func.func @again_round(
// CHECK-NEXT:    %b = tile.round %a : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %b : tensor<4xf32>
func.func @again_round(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %b = tile.round %a : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.round %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// A reshape to the same shape goes.
// CHECK-LABEL: func.func @reshape_same(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @reshape_same(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %r = tile.reshape %a to [] : tensor<4xf32> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Of two reshapes the last is left.
// CHECK-LABEL: func.func @reshape_twice(
// CHECK-NEXT:    %r = tile.reshape %a to [] : tensor<4xf32> -> tensor<4x1xf32>
func.func @reshape_twice(%a: tensor<4xf32>) -> (tensor<4x1xf32>) {
  %b = tile.reshape %a to [] : tensor<4xf32> -> tensor<2x2xf32>
  %r = tile.reshape %b to [] : tensor<2x2xf32> -> tensor<4x1xf32>
  func.return %r : tensor<4x1xf32>
}

// A reshape to an open shape stays.
// CHECK-LABEL: func.func @reshape_open(
// CHECK-NEXT:    %r = tile.reshape %a to [%n] : tensor<?xf32> -> tensor<?xf32>
func.func @reshape_open(%a: tensor<?xf32>, %n: index) -> (tensor<?xf32>) {
  %r = tile.reshape %a to [%n] : tensor<?xf32> -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}

// Symbols that are constant become numbers, repeated and unused ones go.
// CHECK-LABEL: func.func @symbols(
// CHECK-NEXT:    %r = tile.contraction add(%a[2*x + i]) -> [x] where 0 <= i < %n - 2 : (tensor<4xf32>) -> tensor<4xf32>
func.func @symbols(%a: tensor<4xf32>, %n: index, %m: index) -> (tensor<4xf32>) {
  %two = arith.constant 2 : index
  %r = "tile.contraction"(%a, %two, %n, %m, %n) <{operandSegmentSizes = array<i32: 1, 4, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination none>, output = #tile.access<x>, accesses = [#tile.access<symbol(0)*x + symbol(1) - symbol(3) + i>], constraints = [#tile.constraint<0 <= i < symbol(1) - symbol(0)>]}> : (tensor<4xf32>, index, index, index, index) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// A contraction that copies each element to its own place goes.
// CHECK-LABEL: func.func @identity_contraction(
// CHECK-NEXT:    func.return %a : tensor<4x5xf32>
func.func @identity_contraction(%a: tensor<4x5xf32>) -> (tensor<4x5xf32>) {
  %r = tile.contraction assign(%a[i, j]) -> [i, j] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %r : tensor<4x5xf32>
}

// One that moves elements stays.
// CHECK-LABEL: func.func @transposition(
// CHECK-NEXT:    %r = tile.contraction assign(%a[j, i]) -> [i, j]
func.func @transposition(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %r = tile.contraction assign(%a[j, i]) -> [i, j] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// So does one that reads a diagonal.
// CHECK-LABEL: func.func @diagonal(
// CHECK-NEXT:    %r = tile.contraction assign(%a[i, i]) -> [i, i]
func.func @diagonal(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %r = tile.contraction assign(%a[i, i]) -> [i, i] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// And one that leaves out elements.
// CHECK-LABEL: func.func @part(
// CHECK-NEXT:    %r = tile.contraction assign(%a[i, j]) -> [i, j] where 0 <= i - j < 2
func.func @part(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %r = tile.contraction assign(%a[i, j]) -> [i, j] where 0 <= i - j < 2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %r : tensor<4x4xf32>
}

// And one whose indices a schedule names.
// CHECK-LABEL: func.func @scheduled_copy(
// CHECK:           %{{.*}} = tile.contraction assign(%{{.*}}[i]) -> [i]
func.func @scheduled_copy(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %r = tile.kernel(%x = %a : tensor<4xf32>) -> tensor<4xf32> schedule <local.x i : 4> {
    %y = tile.contraction assign(%x[i]) -> [i] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<4xf32>
    tile.yield %y : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// What nobody uses goes.
// CHECK-LABEL: func.func @dead(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @dead(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %r = tile.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// A maximum with the least value there is.
// CHECK-LABEL: func.func @least(
// CHECK-NEXT:    func.return %a : tensor<4xf32>
func.func @least(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = tile.constant -inf : tensor<f32>
  %r = tile.max %c, %a : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Axes of size 1 are computed, also before ops on each element.
// CHECK-LABEL: func.func @unit_axes(
// CHECK-NEXT:    %s = tile.contraction add(%a[i, j]) -> [i, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    %r = tile.exp %s : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:    func.return %r : tensor<4x1xf32>
func.func @unit_axes(%a: tensor<4x8xf32>) -> (tensor<4x1xf32>) {
  %s = tile.contraction add(%a[i, j]) -> [i] : (tensor<4x8xf32>) -> tensor<4xf32>
  %e = tile.exp %s : (tensor<4xf32>) -> tensor<4xf32>
  %r = tile.reshape %e to [] : tensor<4xf32> -> tensor<4x1xf32>
  func.return %r : tensor<4x1xf32>
}

// Operands of fewer axes stay beside them.
// CHECK-LABEL: func.func @broadcast_axes(
// CHECK-NEXT:    %s = tile.contraction add(%a[i, j] mul %a[k, j]) -> [0, i, k] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT:    %e = tile.add %s, %b : (tensor<1x4x4xf32>, tensor<4xf32>) -> tensor<1x4x4xf32>
// CHECK-NEXT:    %0 = tile.reshape %c to [] : tensor<4x1xf32> -> tensor<1x4x1xf32>
// CHECK-NEXT:    %r = tile.mul %e, %0 : (tensor<1x4x4xf32>, tensor<1x4x1xf32>) -> tensor<1x4x4xf32>
func.func @broadcast_axes(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %c: tensor<4x1xf32>) -> (tensor<1x4x4xf32>) {
  %s = tile.contraction add(%a[i, j] mul %a[k, j]) -> [i, k] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %e = tile.add %s, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %f = tile.mul %e, %c : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %r = tile.reshape %f to [] : tensor<4x4xf32> -> tensor<1x4x4xf32>
  func.return %r : tensor<1x4x4xf32>
}

// A result with other users keeps its axes.
// CHECK-LABEL: func.func @shared_axes(
// CHECK-NEXT:    %s = tile.contraction add(%a[i, j]) -> [i] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %r = tile.reshape %s to []
func.func @shared_axes(%a: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4xf32>) {
  %s = tile.contraction add(%a[i, j]) -> [i] : (tensor<4x8xf32>) -> tensor<4xf32>
  %r = tile.reshape %s to [] : tensor<4xf32> -> tensor<4x1xf32>
  func.return %r, %s : tensor<4x1xf32>, tensor<4xf32>
}

// A default that repeats a number is the number, and none if that is 0; -0 is no 0.
// CHECK-LABEL: func.func @defaults(
// CHECK-NEXT:    %one = tile.constant 1.0 : tensor<f32>
// CHECK-NEXT:    %negative = tile.constant -0.0 : tensor<f32>
// CHECK-NEXT:    %a = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 : (tensor<3xf32>) -> tensor<5xf32>
// CHECK-NEXT:    %b = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 default %one : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK-NEXT:    %c = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 default %negative : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
func.func @defaults(%A: tensor<3xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %zero = tile.constant 0.0 : tensor<f32>
  %one = tile.constant 1.0 : tensor<f32>
  %negative = tile.constant -0.0 : tensor<f32>
  %zeros = tile.contraction assign(%zero[]) -> [i] : (tensor<f32>) -> tensor<5xf32>
  %ones = tile.contraction assign(%one[]) -> [i] : (tensor<f32>) -> tensor<5xf32>
  %negatives = tile.contraction assign(%negative[]) -> [i] : (tensor<f32>) -> tensor<5xf32>
  %a = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 default %zeros : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
  %b = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 default %ones : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
  %c = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 default %negatives : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %a, %b, %c : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// A tensor that the number fills in part, or that is no number, stays.
// CHECK-LABEL: func.func @tensors(
// CHECK:         default %part : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
// CHECK:         default %B : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
func.func @tensors(%A: tensor<3xf32>, %B: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %one = tile.constant 1.0 : tensor<f32>
  %part = tile.contraction assign(%one[]) -> [i] where 0 <= i < 4 : (tensor<f32>) -> tensor<5xf32>
  %a = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 default %part : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
  %b = tile.contraction assign(%A[i]) -> [i + 1] where 0 <= i < 3 default %B : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %a, %b : tensor<5xf32>, tensor<5xf32>
}
