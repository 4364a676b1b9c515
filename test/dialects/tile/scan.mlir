// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

%X, %B, %D, %P = "test.op"() : () -> (tensor<4x9xf32>, tensor<4x9xi1>, tensor<?x9xf16>, tensor<4x3xf32>)

// CHECK: tile.scan add %X axis 1 : (tensor<4x9xf32>) -> tensor<4x9xf32>
// GENERIC: "tile.scan"(%X) <{aggregation = #tile<aggregation add>, axis = 1 : index, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x9xf32>) -> tensor<4x9xf32>
%sum = tile.scan add %X axis 1 : (tensor<4x9xf32>) -> tensor<4x9xf32>

// CHECK-NEXT: tile.scan max %X axis 1 reverse every 4 from %P : (tensor<4x9xf32>, tensor<4x3xf32>) -> tensor<4x9xf32>
// GENERIC: "tile.scan"(%X, %P) <{aggregation = #tile<aggregation max>, axis = 1 : index, operandSegmentSizes = array<i32: 1, 1, 0>, every = 4 : index, reverse}>
%max = tile.scan max %X axis 1 reverse every 4 from %P : (tensor<4x9xf32>, tensor<4x3xf32>) -> tensor<4x9xf32>

// Bools count as integers where they are added; sizes may be open.
// CHECK-NEXT: tile.scan mul %B axis 0 : (tensor<4x9xi1>) -> tensor<4x9xi32>
%count = tile.scan mul %B axis 0 : (tensor<4x9xi1>) -> tensor<4x9xi32>
// CHECK-NEXT: tile.scan min %B axis 0 {note} : (tensor<4x9xi1>) -> tensor<4x9xi1>
%all = tile.scan min %B axis 0 {note} : (tensor<4x9xi1>) -> tensor<4x9xi1>
// CHECK-NEXT: tile.scan add %D axis 1 every 2 : (tensor<?x9xf16>) -> tensor<?x9xf16>
%open = tile.scan add %D axis 1 every 2 : (tensor<?x9xf16>) -> tensor<?x9xf16>

// Anew where a key is not the one before.
// CHECK-NEXT: tile.scan add %X axis 1 reverse runs %B : (tensor<4x9xf32>, tensor<4x9xi1>) -> tensor<4x9xf32>
%runs = tile.scan add %X axis 1 reverse runs %B : (tensor<4x9xf32>, tensor<4x9xi1>) -> tensor<4x9xf32>
