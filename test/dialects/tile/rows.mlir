// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

%X, %B = "test.op"() : () -> (tensor<8x12xf32>, tensor<12xf32>)

// Values are kept by name; the axes of size 1 are none.
// CHECK:      %O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8x12xf32>
// CHECK-SAME:   axes <d0 = 0 to 8, d1 = 0 to 12>
// CHECK-SAME:   schedule <group.x d0 : 8, local.x 4*d1 : 4, unroll d1 : 4> stage <%x private, %e private> {
// CHECK-NEXT:   %m = tile.contraction max(%x[d0, d1]) -> [d0, 0]
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8x12xf32> axes <d0 = 0 to 8, d1 = 0 to 12>
    schedule <group.x d0 : 8, local.x 4*d1 : 4, unroll d1 : 4> stage <%x private, %e private> {
  %m = tile.contraction max(%x[d0, d1]) -> [d0, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %c = tile.sub %x, %m : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  %e = tile.exp %c : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %s = tile.contraction add(%e[d0, d1]) -> [d0, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %p = tile.div %e, %s : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  tile.yield %p : tensor<8x12xf32>
}

// A value without a name of its own is numbered: the inputs first, then what is computed.
// Results may lie along the rows alone, with fewer axes too.
// CHECK:      %R, %F = tile.kernel(%x = %X : tensor<8x12xf32>, %b = %B : tensor<12xf32>)
// CHECK-SAME:   -> (tensor<8xf32>, tensor<8x12xf32>) axes <i = 0 to 8, j = 0 to 12>
// CHECK-SAME:   stage <%b local, input 2 private> {
%R, %F = tile.kernel(%x = %X : tensor<8x12xf32>, %b = %B : tensor<12xf32>)
    -> (tensor<8xf32>, tensor<8x12xf32>) axes <i = 0 to 8, j = 0 to 12>
    schedule <local.x i : 8, serial j : 12> stage <%b local, input 2 private> {
  %0 = tile.add %x, %b : (tensor<8x12xf32>, tensor<12xf32>) -> tensor<8x12xf32>
  %r = tile.contraction add(%0[i, j] mul %b[j]) -> [i] : (tensor<8x12xf32>, tensor<12xf32>) -> tensor<8xf32>
  tile.yield %r, %0 : tensor<8xf32>, tensor<8x12xf32>
}

// Values of fewer axes lie where those that take them do, and results along the rows.
// CHECK:      %S, %T = tile.kernel(%x = %X : tensor<8x12xf32>, %d = %D : tensor<8xf32>)
%D = "test.op"() : () -> tensor<8xf32>
%S, %T = tile.kernel(%x = %X : tensor<8x12xf32>, %d = %D : tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) axes <i = 0 to 8, j = 0 to 12> {
  %e = tile.exp %d : (tensor<8xf32>) -> tensor<8xf32>
  %f = tile.neg %d : (tensor<8xf32>) -> tensor<8xf32>
  %r = tile.contraction add(%x[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  %s = tile.mul %e, %r : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tile.yield %s, %f : tensor<8xf32>, tensor<8xf32>
}
