// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

%X = "test.op"() : () -> (tensor<4x9xf32>)
// CHECK: X (4x9) has no axis 2
%s = tile.scan add %X axis 2 : (tensor<4x9xf32>) -> tensor<4x9xf32>

// -----

%X = "test.op"() : () -> (tensor<4x9xf32>)
// CHECK: a tile.scan aggregates: assign does not
%s = tile.scan assign %X axis 1 : (tensor<4x9xf32>) -> tensor<4x9xf32>

// -----

%X = "test.op"() : () -> (tensor<4x9xf32>)
// CHECK: a block has 1 element at least, not 0
%s = tile.scan add %X axis 1 every 0 : (tensor<4x9xf32>) -> tensor<4x9xf32>

// -----

%X, %P = "test.op"() : () -> (tensor<4x9xf32>, tensor<4x2xf32>)
// CHECK: the blocks of s start with a tensor<4x3xf32>, not tensor<4x2xf32>
%s = tile.scan add %X axis 1 every 4 from %P : (tensor<4x9xf32>, tensor<4x2xf32>) -> tensor<4x9xf32>

// -----

%X = "test.op"() : () -> (tensor<4x9xi1>)
// CHECK: the result s has type tensor<4x9xi1>, but the operands make it tensor<4x9xi32>
%s = tile.scan add %X axis 1 : (tensor<4x9xi1>) -> tensor<4x9xi1>

// -----

// CHECK: a tile.kernel with a scan has no other op like it: a and b
func.func @two(%X: tensor<64xf32>) -> tensor<64xf32> {
  %R = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> {
    %a = tile.scan add %x axis 0 : (tensor<64xf32>) -> tensor<64xf32>
    %b = tile.scan add %a axis 0 : (tensor<64xf32>) -> tensor<64xf32>
    tile.yield %b : tensor<64xf32>
  }
  func.return %R : tensor<64xf32>
}

// -----

// CHECK: d0 is scanned along, so no work-group can have part of it to itself: divide it into blocks first (tile-split-scan)
func.func @group(%X: tensor<64xf32>) -> tensor<64xf32> {
  %R = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> schedule <group.x 8*d0 : 8, serial d0 : 8> {
    %a = tile.scan add %x axis 0 : (tensor<64xf32>) -> tensor<64xf32>
    tile.yield %a : tensor<64xf32>
  }
  func.return %R : tensor<64xf32>
}

// -----

// CHECK: the loop serial 4*d0 : 16 does not end with the blocks of 6
func.func @block(%X: tensor<64xf32>) -> tensor<64xf32> {
  %R = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> schedule <serial 4*d0 : 16, serial d0 : 4> {
    %a = tile.scan add %x axis 0 every 6 : (tensor<64xf32>) -> tensor<64xf32>
    tile.yield %a : tensor<64xf32>
  }
  func.return %R : tensor<64xf32>
}

// -----

// CHECK: a scan along d0 has one loop over work-items at most
func.func @items(%X: tensor<64xf32>) -> tensor<64xf32> {
  %R = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> schedule <local.x 8*d0 : 8, local.y d0 : 8> {
    %a = tile.scan add %x axis 0 : (tensor<64xf32>) -> tensor<64xf32>
    tile.yield %a : tensor<64xf32>
  }
  func.return %R : tensor<64xf32>
}

// -----

// CHECK: a scan needs the loop serial 8*d0 : 8 outside the loop serial d0 : 8
func.func @order(%X: tensor<64xf32>) -> tensor<64xf32> {
  %R = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> schedule <serial d0 : 8, serial 8*d0 : 8> {
    %a = tile.scan add %x axis 0 : (tensor<64xf32>) -> tensor<64xf32>
    tile.yield %a : tensor<64xf32>
  }
  func.return %R : tensor<64xf32>
}

// -----

// CHECK: in a scan, the loop serial d0 : 8 must be outside the unrolled loops and outside the work-items
func.func @serial(%X: tensor<64xf32>) -> tensor<64xf32> {
  %R = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32> schedule <local.x 8*d0 : 8, serial d0 : 8> {
    %a = tile.scan add %x axis 0 : (tensor<64xf32>) -> tensor<64xf32>
    tile.yield %a : tensor<64xf32>
  }
  func.return %R : tensor<64xf32>
}

// -----

%X, %K = "test.op"() : () -> (tensor<4x9xf32>, tensor<4x8xi32>)
// CHECK: the keys K (4x8) are not of the shape of X (4x9)
%s = tile.scan add %X axis 1 runs %K : (tensor<4x9xf32>, tensor<4x8xi32>) -> tensor<4x9xf32>

// -----

%X, %K = "test.op"() : () -> (tensor<4x9xf32>, tensor<4x9xi32>)
// CHECK: a tile.scan of runs has no blocks and no initial values
%s = tile.scan add %X axis 1 every 3 runs %K : (tensor<4x9xf32>, tensor<4x9xi32>) -> tensor<4x9xf32>
