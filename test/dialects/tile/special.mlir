// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

%V, %W, %I, %U, %A, %S, %N, %C = "test.op"() : () -> (tensor<9x8xf32>, tensor<1x8xf32>, tensor<4x3xi32>, tensor<4x3x8xf32>, tensor<*x!tile.any>, tensor<3x2048xui32>, index, tensor<f32>)

// CHECK: tile.gather %V, %I : (tensor<9x8xf32>, tensor<4x3xi32>) -> tensor<4x3x8xf32>
// GENERIC: "tile.gather"(%V, %I) : (tensor<9x8xf32>, tensor<4x3xi32>) -> tensor<4x3x8xf32>
%gather = tile.gather %V, %I : (tensor<9x8xf32>, tensor<4x3xi32>) -> tensor<4x3x8xf32>

// CHECK-NEXT: tile.scatter %U, %I, %V : (tensor<4x3x8xf32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
// GENERIC: "tile.scatter"(%U, %I, %V) : (tensor<4x3x8xf32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
%scatter = tile.scatter %U, %I, %V : (tensor<4x3x8xf32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>

// CHECK-NEXT: tile.scatter %U, %I, %V parts 5 : (tensor<4x3x8xf32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<5x9x8xf32>
// GENERIC: "tile.scatter"(%U, %I, %V) <{parts = 5 : index}> : (tensor<4x3x8xf32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<5x9x8xf32>
%scatter_parts = tile.scatter %U, %I, %V parts 5 : (tensor<4x3x8xf32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<5x9x8xf32>

// CHECK-NEXT: tile.scatter %C, %I, %V : (tensor<f32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<9xf32>
%counted = tile.scatter %C, %I, %V : (tensor<f32>, tensor<4x3xi32>, tensor<9x8xf32>) -> tensor<9xf32>

// CHECK-NEXT: tile.sum_to %U, %W : (tensor<4x3x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
// GENERIC: "tile.sum_to"(%U, %W) : (tensor<4x3x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
%sum = tile.sum_to %U, %W : (tensor<4x3x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>

// CHECK-NEXT: tile.reshape %V to [] : tensor<9x8xf32> -> tensor<6x12xf32>
// CHECK-NEXT: tile.reshape %V to [%N] : tensor<9x8xf32> -> tensor<?x2xf32>
// GENERIC: "tile.reshape"(%V) : (tensor<9x8xf32>) -> tensor<6x12xf32>
// GENERIC: "tile.reshape"(%V, %N) : (tensor<9x8xf32>, index) -> tensor<?x2xf32>
%reshape = tile.reshape %V to [] : tensor<9x8xf32> -> tensor<6x12xf32>
%open = tile.reshape %V to [%N] : tensor<9x8xf32> -> tensor<?x2xf32>

// CHECK-NEXT: tile.shape %V : (tensor<9x8xf32>) -> tensor<2xi32>
// CHECK-NEXT: tile.shape %A : (tensor<*x!tile.any>) -> tensor<?xi32>
// GENERIC: "tile.shape"(%V) : (tensor<9x8xf32>) -> tensor<2xi32>
%shape = tile.shape %V : (tensor<9x8xf32>) -> tensor<2xi32>
%unknown = tile.shape %A : (tensor<*x!tile.any>) -> tensor<?xi32>

// CHECK-NEXT: %drawn = tile.prng_value %S to [] : tensor<3x2048xui32> -> tensor<4x8xf32>
// CHECK-NEXT: tile.prng_value %S to [%N, %N] : tensor<3x2048xui32> -> tensor<?x?xf32>
// CHECK-NEXT: tile.prng_state %S, %drawn : (tensor<3x2048xui32>, tensor<4x8xf32>) -> tensor<3x2048xui32>
// GENERIC: "tile.prng_value"(%S) : (tensor<3x2048xui32>) -> tensor<4x8xf32>
// GENERIC: "tile.prng_state"(%S, %drawn) : (tensor<3x2048xui32>, tensor<4x8xf32>) -> tensor<3x2048xui32>
%drawn = tile.prng_value %S to [] : tensor<3x2048xui32> -> tensor<4x8xf32>
%more = tile.prng_value %S to [%N, %N] : tensor<3x2048xui32> -> tensor<?x?xf32>
%state = tile.prng_state %S, %drawn : (tensor<3x2048xui32>, tensor<4x8xf32>) -> tensor<3x2048xui32>
