// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// Elementwise ops.

// CHECK: error: a is of type memref<4xf32>, not a tensor
%a = "test.op"() : () -> (memref<4xf32>)
%r = "tile.exp"(%a) : (memref<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: a: i7 is not an element type
%a = "test.op"() : () -> (tensor<4xi7>)
%r = tile.neg %a : (tensor<4xi7>) -> tensor<4xi7>

// -----

// CHECK: error: a: only a scalar can be of type index
%a = "test.op"() : () -> (tensor<4xindex>)
%r = tile.neg %a : (tensor<4xindex>) -> tensor<4xindex>

// -----

// CHECK: error: the shapes of a (4x8) and b (3) do not broadcast together
%a, %b = "test.op"() : () -> (tensor<4x8xf32>, tensor<3xf32>)
%r = tile.add %a, %b : (tensor<4x8xf32>, tensor<3xf32>) -> tensor<4x8xf32>

// -----

// CHECK: error: the result r has type tensor<4xf32>, but the operands make it tensor<8xf32>
%a = "test.op"() : () -> (tensor<8xf32>)
%r = tile.exp %a : (tensor<8xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the result r has type tensor<8xi32>, but the operands make it tensor<8xf32>
%a = "test.op"() : () -> (tensor<8xi32>)
%r = tile.exp %a : (tensor<8xi32>) -> tensor<8xi32>

// -----

// CHECK: error: the result r has type tensor<8xf32>, but the operands make it tensor<8xi1>
%a = "test.op"() : () -> (tensor<8xf32>)
%r = tile.cmp_lt %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>

// -----

// CHECK: error: bit_and works on integers, but a holds reals
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.bit_and %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: bit_not works on integers, but a holds reals
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.bit_not %a : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: bit_left works on integers, but b holds reals
%a, %b = "test.op"() : () -> (tensor<4xi32>, tensor<4xf32>)
%r = tile.bit_left %a, %b : (tensor<4xi32>, tensor<4xf32>) -> tensor<4xi32>

// -----

// CHECK: error: there is no cast to !tile.any
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.cast %a : (tensor<4xf32>) -> tensor<4x!tile.any>

// -----

// CHECK: error: there is no cast to index
%a = "test.op"() : () -> (tensor<f32>)
%r = tile.cast %a : (tensor<f32>) -> tensor<index>

// -----

// CHECK: error: a has no axis 1
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.index %a axis 1 : (tensor<4xf32>) -> tensor<4xi32>

// -----

// CHECK: error: a has no axis -1
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.index %a axis -1 : (tensor<4xf32>) -> tensor<4xi32>

// -----

// CHECK: error: 2.5 is not of type i32
%r = tile.constant 2.5 : tensor<i32>

// -----

// CHECK: error: 256 is not of type ui8
%r = tile.constant 256 : tensor<ui8>

// -----

// CHECK: error: -129 is not of type i8
%r = tile.constant -129 : tensor<i8>

// -----

// CHECK: error: 2 is not of type !tile.any
%r = tile.constant 2 : tensor<!tile.any>

// -----

// CHECK: error: the result r has type tensor<2xf32>, but the operands make it tensor<f32>
%r = tile.constant 2.5 : tensor<2xf32>

// -----

// CHECK: integer or float literal expected
%r = tile.constant true : tensor<i1>

// -----

// Contractions.

// CHECK: error: combination none takes 1 tensor, not 2
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.contraction"(%a, %a) <{operandSegmentSizes = array<i32: 2, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination none>, output = #tile.access<i>, accesses = [#tile.access<i>, #tile.access<i>], constraints = []}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: combination cond takes 3 tensors, not 2
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.contraction"(%a, %a) <{operandSegmentSizes = array<i32: 2, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination cond>, output = #tile.access<i>, accesses = [#tile.access<i>, #tile.access<i>], constraints = []}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: combination eq takes 2 tensors, not 3
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.contraction"(%a, %a, %a) <{operandSegmentSizes = array<i32: 3, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination eq>, output = #tile.access<i>, accesses = [#tile.access<i>, #tile.access<i>, #tile.access<i>], constraints = []}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: 1 tensor with 2 lists of index expressions
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.contraction"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination none>, output = #tile.access<i>, accesses = [#tile.access<i>, #tile.access<i>], constraints = []}> : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: a has 1 axis (4) but 2 index expressions
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i, j]) -> [i] : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: r has 1 axis (4) but 2 index expressions
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i]) -> [i, j] : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the rank of r must be known
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.contraction"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination none>, output = #tile.access<i>, accesses = [#tile.access<i>], constraints = []}> : (tensor<4xf32>) -> tensor<*xf32>

// -----

// CHECK: error: r has 1 open axis but 0 sizes
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.contraction"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination none>, output = #tile.access<i>, accesses = [#tile.access<i>], constraints = []}> : (tensor<4xf32>) -> tensor<?xf32>

// -----

// CHECK: a size is given for each open axis of the result
%a, %b = "test.op"() : () -> (tensor<4xf32>, index)
%r = tile.contraction add(%a[i]) -> [i : %b, j] where 0 <= j < 2 : (tensor<4xf32>) -> tensor<2x?xf32>

// -----

// CHECK: error: the default b (5) has not the shape of r (4)
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<5xf32>)
%r = tile.contraction add(%a[i]) -> [i] default %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the default b (scalar) has not the shape of r (4)
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<f32>)
%r = tile.contraction add(%a[i]) -> [i] default %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

// -----

// CHECK: error: i*j is not affine in its indices
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i*j]) -> [i] : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the bound j of a constraint holds an index
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i]) -> [i] where 0 <= i < j : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: there is no operand for symbol(0)
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.contraction"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination none>, output = #tile.access<i>, accesses = [#tile.access<i + symbol(0)>], constraints = []}> : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: there is no operand for symbol(1)
%a, %b = "test.op"() : () -> (tensor<4xf32>, index)
%r = "tile.contraction"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination none>, output = #tile.access<i>, accesses = [#tile.access<i>], constraints = [#tile.constraint<0 <= i < symbol(1)>]}> : (tensor<4xf32>, index) -> tensor<4xf32>

// -----

// CHECK: error: the domain must give the range of each index, and no other
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i]) -> [j] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the domain i = 0..3 leaves out points
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i]) -> [i] domain <i = 0 to 3> : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: a domain is for a contraction whose sizes are known
%a = "test.op"() : () -> (tensor<?xf32>)
%r = tile.contraction add(%a[i]) -> [] domain <i = 0 to 3> : (tensor<?xf32>) -> tensor<f32>

// -----

// CHECK: error: nothing bounds the index j
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i]) -> [i + j - k] where 0 <= j - k < 2 domain <i = 0 to 4, j = 0 to 9, k = 0 to 9> : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the result r has type tensor<4xi8>, but the operands make it tensor<4xf32>
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i]) -> [i] : (tensor<4xf32>) -> tensor<4xi8>

// -----

// CHECK: error: the result r has type tensor<i1>, but the operands make it tensor<i32>
%a = "test.op"() : () -> (tensor<4xi1>)
%r = tile.contraction add(%a[i]) -> [] : (tensor<4xi1>) -> tensor<i1>

// -----

// CHECK: division by zero in an index expression
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i/0]) -> [i] : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: a constraint is written 0 <= expression < bound
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i]) -> [i] where 1 <= i < 2 : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: is not a way to combine tensors
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i] add %a[i] mul %a[i]) -> [i] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: the types do not match the operands in number
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.contraction add(%a[i] mul %a[i]) -> [i] : (tensor<4xf32>) -> tensor<4xf32>

// -----

// Ops that move elements.

// CHECK: error: gather needs an axis, but a is a scalar
%a, %b = "test.op"() : () -> (tensor<f32>, tensor<4xi32>)
%r = tile.gather %a, %b : (tensor<f32>, tensor<4xi32>) -> tensor<4xf32>

// -----

// CHECK: error: gather has nothing to take from a
%a, %b = "test.op"() : () -> (tensor<0x2xf32>, tensor<4xi32>)
%r = tile.gather %a, %b : (tensor<0x2xf32>, tensor<4xi32>) -> tensor<4x2xf32>

// -----

// CHECK: error: b holds reals, which cannot serve as indices of gather
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>)
%r = tile.gather %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: b holds reals, which cannot serve as indices of scatter
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xf32>)
%r = tile.scatter %a, %b, %a : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: scatter needs an axis, but c is a scalar
%a, %b, %c = "test.op"() : () -> (tensor<4xf32>, tensor<4xi32>, tensor<f32>)
%r = tile.scatter %a, %b, %c : (tensor<4xf32>, tensor<4xi32>, tensor<f32>) -> tensor<4xf32>

// -----

// CHECK: error: scatter has 1 part at least, not 0
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xi32>)
%r = tile.scatter %a, %b, %a parts 0 : (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<0x4xf32>

// -----

// CHECK: error: a (4) must begin with the axes of b (5)
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<5xi32>)
%r = tile.scatter %a, %b, %a : (tensor<4xf32>, tensor<5xi32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: a (4x2) cannot be reshaped to 3x3: 8 elements are not 9
%a = "test.op"() : () -> (tensor<4x2xf32>)
%r = tile.reshape %a to [] : tensor<4x2xf32> -> tensor<3x3xf32>

// -----

// CHECK: error: the open axes of r must match the sizes
%a = "test.op"() : () -> (tensor<4x2xf32>)
%r = tile.reshape %a to [] : tensor<4x2xf32> -> tensor<?xf32>

// -----

// CHECK: error: the result r has type tensor<3xi32>, but the operands make it tensor<2xi32>
%a = "test.op"() : () -> (tensor<4x2xf32>)
%r = tile.shape %a : (tensor<4x2xf32>) -> tensor<3xi32>

// -----

// CHECK: error: the random state a must be of type u32
%a = "test.op"() : () -> (tensor<4xi32>)
%r = tile.prng_value %a to [] : tensor<4xi32> -> tensor<8xf32>

// -----

// CHECK: error: the random state a needs at least 4 elements
%a, %b = "test.op"() : () -> (tensor<3xui32>, tensor<8xf32>)
%r = tile.prng_state %a, %b : (tensor<3xui32>, tensor<8xf32>) -> tensor<3xui32>

// -----

// CHECK: error: b (3) does not broadcast to a (4)
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<3xf32>)
%r = tile.sum_to %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<3xf32>

// -----

// Gradients of the user's own.

// CHECK: error: the body of a custom gradient has one argument, of the result's type tensor<4xf32>
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.custom_gradient %a wrt (%a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
^bb0(%d: tensor<5xf32>):
  tile.yield %d : tensor<5xf32>
}

// -----

// CHECK: error: the body of a tile.custom_gradient ends in a tile.yield
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.custom_gradient %a wrt (%a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
^bb0(%d: tensor<4xf32>):
  "test.termop"(%d) : (tensor<4xf32>) -> ()
}

// -----

// CHECK: error: a custom gradient by 1 tensor gives 2 cotangents
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.custom_gradient %a wrt (%a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
^bb0(%d: tensor<4xf32>):
  tile.yield %d, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK: error: b holds i32: there is no gradient with respect to integers
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<4xi32>)
%r = tile.custom_gradient %a wrt (%b) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32> {
^bb0(%d: tensor<4xf32>):
  tile.yield %d : tensor<4xf32>
}

// -----

// CHECK: error: d (4) must have the shape of b (5), of which it is the cotangent
%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<5xf32>)
%r = tile.custom_gradient %a wrt (%b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> {
^bb0(%d: tensor<4xf32>):
  tile.yield %d : tensor<4xf32>
}

// -----

// Kernels.

// CHECK: error: the body of a tile.kernel ends in a tile.yield
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.kernel"(%a) ({
^bb0(%x: tensor<4xf32>):
  "test.termop"(%x) : (tensor<4xf32>) -> ()
}) : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the arguments of a tile.kernel must match its operands
%a = "test.op"() : () -> (tensor<4xf32>)
%r = "tile.kernel"(%a) ({
^bb0(%x: tensor<5xf32>):
  tile.yield %x : tensor<5xf32>
}) : (tensor<4xf32>) -> tensor<4xf32>

// -----

// CHECK: error: the values a tile.kernel yields must match its results
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.kernel(%x = %a : tensor<4xf32>) -> tensor<5xf32> {
  tile.yield %x : tensor<4xf32>
}

// -----

// CHECK: error: a tile.kernel works on static shapes, not tensor<?xf32>
%a = "test.op"() : () -> (tensor<?xf32>)
%r = tile.kernel(%x = %a : tensor<?xf32>) -> tensor<?xf32> {
  tile.yield %x : tensor<?xf32>
}

// -----

// CHECK: a tile.yield ends the body of a tile.kernel or custom gradient
%a = "test.op"() : () -> (tensor<4xf32>)
tile.yield %a : tensor<4xf32>

// -----

// CHECK: expected a role (group, local, serial, unroll, vector), got thread
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.kernel(%x = %a : tensor<4xf32>) -> tensor<4xf32> schedule <thread d0 : 4> {
  tile.yield %x : tensor<4xf32>
}

// -----

// CHECK: expected group.x, group.y, group.z, got group
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.kernel(%x = %a : tensor<4xf32>) -> tensor<4xf32> schedule <group d0 : 4> {
  tile.yield %x : tensor<4xf32>
}

// -----

// CHECK: expected serial, got serial.x
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.kernel(%x = %a : tensor<4xf32>) -> tensor<4xf32> schedule <serial.x d0 : 4> {
  tile.yield %x : tensor<4xf32>
}

// -----

// CHECK: a step of a schedule moves its index by at least 1
%a = "test.op"() : () -> (tensor<4xf32>)
%r = tile.kernel(%x = %a : tensor<4xf32>) -> tensor<4xf32> schedule <serial 0*d0 : 4> {
  tile.yield %x : tensor<4xf32>
}

// -----

// What runs as one kernel.

// CHECK: error: the loops over d0 reach 5 of its 8 values
%A = "test.op"() : () -> (tensor<8xf32>)
%C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <serial d0 : 5> {
  %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  tile.yield %c : tensor<8xf32>
}

// -----

// CHECK: error: the loops over d0 reach 8000000000000000000 values; the limit is 4611686018427387904
%A = "test.op"() : () -> (tensor<8xf32>)
%C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <serial 8*d0 : 1000000000000000000, vector d0 : 8> {
  %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  tile.yield %c : tensor<8xf32>
}

// -----

// CHECK: error: no device has work-groups of 10000000000 work-items
%A = "test.op"() : () -> (tensor<8xf32>)
%C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <local.x 100000*d0 : 100000, local.y d0 : 100000> {
  %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  tile.yield %c : tensor<8xf32>
}

// -----

// CHECK: error: the loops over d0 have a gap or an overlap at stride 4
%A = "test.op"() : () -> (tensor<8xf32>)
%C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <serial 4*d0 : 2> {
  %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  tile.yield %c : tensor<8xf32>
}

// -----

// CHECK: error: the schedule has a loop over d1, which is no index of the kernel
%A = "test.op"() : () -> (tensor<8xf32>)
%C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <serial d0 : 8, serial d1 : 2> {
  %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  tile.yield %c : tensor<8xf32>
}

// -----

// CHECK: error: c is scheduled, but has no domain
%A = "test.op"() : () -> (tensor<8xf32>)
%C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<f32> schedule <serial i : 8> {
  %c = tile.contraction add(%a[i]) -> [] : (tensor<8xf32>) -> tensor<f32>
  tile.yield %c : tensor<f32>
}

// -----

// CHECK: error: a tile.kernel computes values of one shape, unlike c (tensor<8xf32>) and d (tensor<4xf32>)
%A, %B = "test.op"() : () -> (tensor<8xf32>, tensor<4xf32>)
%C, %D = tile.kernel(%a = %A : tensor<8xf32>, %b = %B : tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  %d = tile.exp %b : (tensor<4xf32>) -> tensor<4xf32>
  tile.yield %c, %d : tensor<8xf32>, tensor<4xf32>
}

// -----

// CHECK: error: a tile.kernel without axes has one contraction at most, or several of at most 16 points an element, not c and d
%A = "test.op"() : () -> (tensor<8xf32>)
%C, %D = tile.kernel(%a = %A : tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  %c = tile.contraction add(%a[i]) -> [] : (tensor<8xf32>) -> tensor<f32>
  %d = tile.contraction max(%a[i]) -> [] : (tensor<8xf32>) -> tensor<f32>
  tile.yield %c, %d : tensor<f32>, tensor<f32>
}

// -----

// CHECK: error: a tile.kernel has a result
tile.kernel() -> () {
  tile.yield
}
