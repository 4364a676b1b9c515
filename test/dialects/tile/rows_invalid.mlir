// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

%X = "test.op"() : () -> tensor<8x12xf32>

// CHECK: a tile.kernel without axes has one contraction at most, or several of at most 16 points an element, not a and b
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8xf32> {
  %a = tile.contraction add(%x[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  %b = tile.contraction max(%x[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  %c = tile.add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  tile.yield %c : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// CHECK: k is no axis of the kernel that has x
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 12> {
  %a = tile.contraction add(%x[i, k]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// A window reads elements that other points compute.
// CHECK: axis 1 of e is read at 2*j, which is no axis of the kernel of size 12
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 12> {
  %e = tile.exp %x : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %a = tile.contraction add(%e[i, 2*j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x8xf32>

// CHECK: a reads e at elements of other rows
%O = tile.kernel(%x = %X : tensor<8x8xf32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 8> {
  %e = tile.exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = tile.contraction add(%e[j, i]) -> [i] : (tensor<8x8xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x8xf32>

// A sum along the rows, but taken for one along the columns.
// CHECK: axis 0 of c is none of the kernel's axes alone
%O = tile.kernel(%x = %X : tensor<8x8xf32>) -> tensor<8x8xf32> axes <i = 0 to 8, j = 0 to 8> {
  %a = tile.contraction add(%x[i, j]) -> [i] : (tensor<8x8xf32>) -> tensor<8xf32>
  %b = tile.contraction add(%x[i, j]) -> [j] : (tensor<8x8xf32>) -> tensor<8xf32>
  %c = tile.add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %d = tile.add %x, %a : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  tile.yield %d : tensor<8x8xf32>
}

// -----

%X, %N = "test.op"() : () -> (tensor<8x12xf32>, tensor<12xf32>)

// CHECK: s is the same for all i: a kernel with axes gives values of its rows
%O:2 = tile.kernel(%x = %X : tensor<8x12xf32>, %n = %N : tensor<12xf32>) -> (tensor<8x1xf32>, tensor<1xf32>) axes <i = 0 to 8, j = 0 to 12> {
  %r = tile.contraction add(%x[i, j]) -> [i, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %s = tile.contraction add(%n[j]) -> [0] : (tensor<12xf32>) -> tensor<1xf32>
  tile.yield %r, %s : tensor<8x1xf32>, tensor<1xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// CHECK: a is in a kernel with axes: it can have no constraint and no default
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 12> {
  %a = tile.contraction add(%x[i, j]) -> [i] where 0 <= j < 3 : (tensor<8x12xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// CHECK: j is summed over, so no work-group can have it to itself
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8x12xf32> axes <i = 0 to 8, j = 0 to 12> schedule <group.x j : 12, serial i : 8> {
  %a = tile.contraction add(%x[i, j]) -> [i, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %b = tile.div %x, %a : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  tile.yield %b : tensor<8x12xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// CHECK: e is computed: it can be kept 'private', alone
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 12> schedule <serial i : 8, serial j : 12> stage <%e local> {
  %e = tile.exp %x : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %a = tile.contraction add(%e[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// CHECK: %f is no argument or named value of this kernel
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 12> schedule <serial i : 8, serial j : 12> stage <%f private> {
  %e = tile.exp %x : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %a = tile.contraction add(%e[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X, %I = "test.op"() : () -> (tensor<8x12xf32>, tensor<8xi32>)

// CHECK: a tile.kernel with axes has contractions and elementwise ops, not tile.gather (g)
%O = tile.kernel(%x = %X : tensor<8x12xf32>, %i = %I : tensor<8xi32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 12> {
  %g = tile.gather %x, %i : (tensor<8x12xf32>, tensor<8xi32>) -> tensor<8x12xf32>
  %a = tile.contraction add(%g[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// CHECK: a needs no stage: it is not computed twice
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8xf32> axes <i = 0 to 8, j = 0 to 12> schedule <serial i : 8, serial j : 12> stage <%a private> {
  %a = tile.contraction add(%x[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  tile.yield %a : tensor<8xf32>
}

// -----

%X = "test.op"() : () -> tensor<3x4x5xf32>

// CHECK: axis 0 of e is none of the kernel's axes alone
%O = tile.kernel(%x = %X : tensor<3x4x5xf32>) -> tensor<3x4x5xf32> axes <i = 0 to 3, j = 0 to 4> {
  %e = tile.exp %x : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  tile.yield %e : tensor<3x4x5xf32>
}

// -----

%X, %D = "test.op"() : () -> (tensor<8x8x8xf32>, tensor<8x8xf32>)

// Elements off the diagonal would not be computed.
// CHECK: e lies along one axis of the kernel twice
%O, %E = tile.kernel(%x = %X : tensor<8x8x8xf32>, %d = %D : tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) axes <i = 0 to 8, j = 0 to 8, k = 0 to 8> {
  %e = tile.exp %d : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = tile.contraction add(%x[i, j, k] mul %e[i, i]) -> [i] : (tensor<8x8x8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  tile.yield %r, %e : tensor<8xf32>, tensor<8x8xf32>
}

// -----

%X = "test.op"() : () -> tensor<8x12xf32>

// Inputs alone are read at places.
// CHECK: axis 0 of e is read at 1, which is no axis of the kernel of size 8
%O = tile.kernel(%x = %X : tensor<8x12xf32>) -> tensor<8x12xf32> axes <i = 0 to 8, j = 0 to 12> {
  %e = tile.exp %x : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %a = tile.contraction assign(%e[1, j]) -> [0, j] : (tensor<8x12xf32>) -> tensor<1x12xf32>
  %b = tile.add %x, %a : (tensor<8x12xf32>, tensor<1x12xf32>) -> tensor<8x12xf32>
  tile.yield %b : tensor<8x12xf32>
}
