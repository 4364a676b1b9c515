// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

%X, %Y = "test.op"() : () -> (tensor<64xf32>, tensor<64xf32>)

// CHECK:      %O = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> schedule <group.x 32*d0 : 2, local.x d0 : 32> {
// CHECK-NEXT:   %e = tile.exp %x : (tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:   tile.yield %e : tensor<64xf32>
// CHECK-NEXT: }
// GENERIC:      %O = "tile.kernel"(%X) <{schedule = #tile.schedule<<group.x 32*d0 : 2, local.x d0 : 32>>}> ({
// GENERIC-NEXT: ^bb0(%x: tensor<64xf32>):
// GENERIC-NEXT:   %e = "tile.exp"(%x) : (tensor<64xf32>) -> tensor<64xf32>
// GENERIC-NEXT:   "tile.yield"(%e) : (tensor<64xf32>) -> ()
// GENERIC-NEXT: }) : (tensor<64xf32>) -> tensor<64xf32>
%O = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> schedule <group.x 32*d0 : 2, local.x d0 : 32> {
  %e = tile.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  tile.yield %e : tensor<64xf32>
}

// Several results, all roles, attributes.
// CHECK:      tile.kernel(%a = %X : tensor<64xf32>, %b = %Y : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) schedule <group.x 16*i : 4, group.z 8*i : 2, local.y 4*i : 2, serial 2*i : 2, unroll i : 2, vector j : 1> attributes {name = "two"} {
%P, %Q = tile.kernel(%a = %X : tensor<64xf32>, %b = %Y : tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) schedule <group.x 16*i : 4, group.z 8*i : 2, local.y 4*i : 2, serial 2*i : 2, unroll i : 2, vector j : 1> attributes {name = "two"} {
  %s = tile.contraction add(%a[i + j] mul %b[i]) -> [i] where 0 <= j < 1 domain <i = 0 to 64, j = 0 to 1> : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %t = tile.exp %s : (tensor<64xf32>) -> tensor<64xf32>
  tile.yield %s, %t : tensor<64xf32>, tensor<64xf32>
}

// A symbol is the kernel's name.
// CHECK:      %N = tile.kernel @"an operand"() -> tensor<f32> {
// GENERIC:    %N = "tile.kernel"() <{sym_name = "an operand"}> ({
%N = tile.kernel @"an operand"() -> tensor<f32> {
  %n = tile.constant 1.5 : tensor<f32>
  tile.yield %n : tensor<f32>
}

// Nothing taken, nothing scheduled.
// CHECK:      tile.kernel() -> tensor<f32> {
// CHECK-NEXT:   %c = tile.constant 2.5 : tensor<f32>
%R = tile.kernel() -> tensor<f32> {
  %c = tile.constant 2.5 : tensor<f32>
  tile.yield %c : tensor<f32>
}

// What is copied before a kernel stands first among its stages.
// CHECK:   stage <%b global order (1, 0) pad 3, %a local at k> {
// GENERIC: stage <input 1 global order (1, 0) pad 3, input 0 local at k>
%A, %B = "test.op"() : () -> (tensor<8x4xf32>, tensor<4x8xf32>)
%M = tile.kernel(%a = %A : tensor<8x4xf32>, %b = %B : tensor<4x8xf32>) -> tensor<8x8xf32>
  schedule <serial i : 8, serial k : 4, serial j : 8> stage <%a local at k, %b global order (1, 0) pad 3> {
  %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  tile.yield %c : tensor<8x8xf32>
}
