// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

%I, %K, %A, %B, %D, %N, %M, %E, %F = "test.op"() : () -> (tensor<2x9x9x5xf32>, tensor<2x2x5x7xf32>, tensor<?xf32>, tensor<?xi8>, tensor<?xf32>, index, index, tensor<3xf32>, tensor<6xi8>)

// Two tensors, affine index expressions.
// CHECK: %O = tile.contraction add(%I[n, 3*y + 2*j, 3*x + 2*i, ci] mul %K[j, i, ci, co]) -> [n, y, x, co] : (tensor<2x9x9x5xf32>, tensor<2x2x5x7xf32>) -> tensor<2x3x3x7xf32>
// GENERIC: %O = "tile.contraction"(%I, %K) <{operandSegmentSizes = array<i32: 2, 0, 0, 0>, aggregation = #tile<aggregation add>, combination = #tile<combination mul>, output = #tile.access<n, y, x, co>, accesses = [#tile.access<n, 3*y + 2*j, 3*x + 2*i, ci>, #tile.access<j, i, ci, co>], constraints = []}> : (tensor<2x9x9x5xf32>, tensor<2x2x5x7xf32>) -> tensor<2x3x3x7xf32>
%O = tile.contraction add(%I[n, 3*y + 2*j, 3*x + 2*i, ci] mul %K[j, i, ci, co]) -> [n, y, x, co] : (tensor<2x9x9x5xf32>, tensor<2x2x5x7xf32>) -> tensor<2x3x3x7xf32>

// One tensor, a constraint, negative and rational coefficients.
// CHECK-NEXT: %P = tile.contraction max(%O[n, 2 - y, 1/2*x + 1/2*k, c]) -> [n, y, x, c] where 0 <= k < 2 : (tensor<2x3x3x7xf32>) -> tensor<2x3x3x7xf32>
%P = tile.contraction max(%O[n, 2 - y, x/2 + k/2, c]) -> [n, y, x, c] where 0 <= k < 2 : (tensor<2x3x3x7xf32>) -> tensor<2x3x3x7xf32>

// Symbols, sizes, a default, several constraints with dynamic bounds, no_defract.
// CHECK-NEXT: %Q = tile.contraction assign(%A[%N - 1 - i]) -> [2*i : %M] where 0 <= i < %N, 0 <= i + 1 < %M default %D no_defract : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// GENERIC: %Q = "tile.contraction"(%A, %N, %M, %M, %D) <{operandSegmentSizes = array<i32: 1, 2, 1, 1>, aggregation = #tile<aggregation assign>, combination = #tile<combination none>, output = #tile.access<2*i>, accesses = [#tile.access<symbol(0) - 1 - i>], constraints = [#tile.constraint<"0 <= i < symbol(0)">, #tile.constraint<"0 <= i + 1 < symbol(1)">], no_defract}>
%Q = tile.contraction assign(%A[%N - 1 - i]) -> [2*i : %M] where 0 <= i < %N, 0 <= i + 1 < %M default %D no_defract : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>

// A constant may be the default of all elements.
// CHECK: %Z = tile.contraction add(%A[k]) -> [i] where 0 <= i - k < 2 default %zero : (tensor<?xf32>, tensor<f32>) -> tensor<9xf32>
%zero = tile.constant 0 : tensor<f32>
%Z = tile.contraction add(%A[k]) -> [i] where 0 <= i - k < 2 default %zero : (tensor<?xf32>, tensor<f32>) -> tensor<9xf32>

// A symbol as a coefficient.
// CHECK-NEXT: tile.contraction add(%A[g*%N + i]) -> [g : %M] where 0 <= i < %N : (tensor<?xf32>) -> tensor<?xf32>
%R = tile.contraction add(%A[g*%N + i]) -> [g : %M] where 0 <= i < %N : (tensor<?xf32>) -> tensor<?xf32>

// A domain; the element type of a result is that of the operands' meeting.
// CHECK-NEXT: tile.contraction mul(%E[i] add %F[i + j]) -> [] domain <i = 0 to 3, j = -2 to 6> {tile.hints = {pid = ["a"]}} : (tensor<3xf32>, tensor<6xi8>) -> tensor<f32>
%S = tile.contraction mul(%E[i] add %F[i + j]) -> [] domain <i = 0 to 3, j = -2 to 6> {tile.hints = {pid = ["a"]}} : (tensor<3xf32>, tensor<6xi8>) -> tensor<f32>

// Equality makes bools, of which a sum is a count.
// CHECK-NEXT: tile.contraction max(%A[i] eq %B[j]) -> [] : (tensor<?xf32>, tensor<?xi8>) -> tensor<i1>
// CHECK-NEXT: tile.contraction add(%A[i] eq %B[j]) -> [] : (tensor<?xf32>, tensor<?xi8>) -> tensor<i32>
%T = tile.contraction max(%A[i] eq %B[j]) -> [] : (tensor<?xf32>, tensor<?xi8>) -> tensor<i1>
%U = tile.contraction add(%A[i] eq %B[j]) -> [] : (tensor<?xf32>, tensor<?xi8>) -> tensor<i32>

// Three tensors.
// CHECK-NEXT: tile.contraction min(%A[i] eq %A[j] cond %B[j]) -> [] : (tensor<?xf32>, tensor<?xf32>, tensor<?xi8>) -> tensor<i8>
// CHECK-NEXT: tile.contraction add(%A[i] mul %A[j] mul %B[j]) -> [0 : %N] : (tensor<?xf32>, tensor<?xf32>, tensor<?xi8>) -> tensor<?xf32>
%V = tile.contraction min(%A[i] eq %A[j] cond %B[j]) -> [] : (tensor<?xf32>, tensor<?xf32>, tensor<?xi8>) -> tensor<i8>
%W = tile.contraction add(%A[i] mul %A[j] mul %B[j]) -> [0 : %N] : (tensor<?xf32>, tensor<?xf32>, tensor<?xi8>) -> tensor<?xf32>
