// RUN: tile-opt %s -p lift-to-tile,canonicalize,cse | filecheck %s

// Two maps and a sum of products are a contraction.
// CHECK-LABEL: func.func @product(
// CHECK: tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j]
// CHECK-NOT: lift.
func.func @product(%A: tensor<4x3xf32>, %B: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %columns = lift.transpose %B : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %r = lift.map(%row in %A) : (tensor<4x3xf32>) -> tensor<4x5xf32> {
    %s = lift.map(%column in %columns) : (tensor<5x3xf32>) -> tensor<5xf32> {
      %pairs = lift.zip %row, %column : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xtuple<f32, f32>>
      %sum = lift.reduce_seq(%a from %zero, %p in %pairs)
             : (f32, tensor<3xtuple<f32, f32>>) -> f32 {
        %x = lift.get(0) %p : (tuple<f32, f32>) -> f32
        %y = lift.get(1) %p : (tuple<f32, f32>) -> f32
        %xy = arith.mulf %x, %y : f32
        %t = arith.addf %a, %xy : f32
        lift.yield %t : f32
      }
      lift.yield %sum : f32
    }
    lift.yield %s : tensor<5xf32>
  }
  func.return %r : tensor<4x5xf32>
}

// Windows are index expressions, an end is a run of its own.
// CHECK-LABEL: func.func @stencil(
// CHECK: %[[A:.*]] = tile.contraction assign(%x[0]) -> [i] where 0 <= i < 1
// CHECK: %[[B:.*]] = tile.contraction assign(%x[i]) -> [i + 1] default %[[A]]
// CHECK: %[[C:.*]] = tile.contraction assign(%x[7]) -> [i + 9] where 0 <= i < 1 default %[[B]]
// CHECK: tile.contraction add(%[[C]][i + j]) -> [i] where 0 <= j < 3
func.func @stencil(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = lift.pad(1, 1, clamp) %x : (tensor<8xf32>) -> tensor<10xf32>
  %w = lift.slide(3, 1) %p : (tensor<10xf32>) -> tensor<8x3xf32>
  %r = lift.map_glb(0)(%v in %w) : (tensor<8x3xf32>) -> tensor<8xf32> {
    %s = lift.reduce(%a from %zero, %e in %v) : (f32, tensor<3xf32>) -> f32 {
      %t = arith.addf %a, %e : f32
      lift.yield %t : f32
    }
    lift.yield %s : f32
  }
  func.return %r : tensor<8xf32>
}

// Joined, padded by what is read backwards, in memory of a group: all of it is where it is read.
// CHECK-LABEL: func.func @layout(
// CHECK: tile.contraction assign(%x[1 - i]) -> [i] where 0 <= i < 2
// CHECK: tile.contraction assign(%x[i]) -> [i + 2] default
// CHECK-NOT: lift.
func.func @layout(%x: tensor<8xf32>) -> tensor<10xf32> {
  %p = lift.pad(2, 0, mirror) %x : (tensor<8xf32>) -> tensor<10xf32>
  %s = lift.split(5) %p : (tensor<10xf32>) -> tensor<2x5xf32>
  %l = lift.to_local %s : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %j = lift.join %l : (tensor<2x5xf32>) -> tensor<10xf32>
  func.return %j : tensor<10xf32>
}

// A function that is no sum is applied to pairs, and pairs of these.
// CHECK-LABEL: func.func @in_any_order(
// CHECK: tile.contraction assign(%x[2*i]) -> [i] {{.*}} -> tensor<2xf32>
// CHECK: tile.contraction assign(%x[2*i + 1]) -> [i] {{.*}} -> tensor<2xf32>
// CHECK: tile.pow
// CHECK: tile.pow {{.*}} -> tensor<1xf32>
// CHECK: tile.pow %one, {{.*}} -> tensor<1xf32>
func.func @in_any_order(%one: tensor<f32>, %x: tensor<4xf32>) -> tensor<f32> {
  %start = tensor.extract %one[] : tensor<f32>
  %r = lift.reduce(%a from %start, %e in %x) : (f32, tensor<4xf32>) -> f32 {
    %t = math.powf %a, %e : f32
    lift.yield %t : f32
  }
  %t = tensor.from_elements %r : tensor<f32>
  func.return %t : tensor<f32>
}

// An element at an index that is computed is gathered, for each row.
// CHECK-LABEL: func.func @at(
// CHECK: tile.gather
func.func @at(%x: tensor<4x8xf32>, %k: tensor<4xi32>) -> tensor<4xf32> {
  %pairs = lift.zip %x, %k : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4xtuple<tensor<8xf32>, i32>>
  %r = lift.map(%p in %pairs) : (tensor<4xtuple<tensor<8xf32>, i32>>) -> tensor<4xf32> {
    %row = lift.get(0) %p : (tuple<tensor<8xf32>, i32>) -> tensor<8xf32>
    %k_1 = lift.get(1) %p : (tuple<tensor<8xf32>, i32>) -> i32
    %i = arith.index_cast %k_1 : i32 to index
    %e = lift.at %row, %i : (tensor<8xf32>, index) -> f32
    lift.yield %e : f32
  }
  func.return %r : tensor<4xf32>
}

// Ops of tile stay.
// CHECK-LABEL: func.func @mixed(
// CHECK: %[[S:.*]] = tile.contraction add(%x[i]) -> []
// CHECK: %[[E:.*]] = tile.exp %x
// CHECK: tile.div %[[E]], %[[S]]
func.func @mixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = tile.contraction add(%x[i]) -> [] : (tensor<4xf32>) -> tensor<f32>
  %e = lift.map(%a in %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %b = math.exp %a : f32
    lift.yield %b : f32
  }
  %r = tile.div %e, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
