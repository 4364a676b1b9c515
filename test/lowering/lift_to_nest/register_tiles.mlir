// RUN: tile-opt %s -p lift-to-nest | filecheck %s

// A block of 2 x 8 sums, to which a loop adds by vectors of 4: the loops that fill and empty it
// are unrolled, and have the same vectors.
// CHECK-LABEL: "gpu.func"
// CHECK:      %acc = nest.buffer : memref<16xf32, 5 : i32>
// CHECK-NEXT: nest.for %i_1 : unroll to 2 {
// CHECK-NEXT:   nest.for %i_2 : unroll to 2 {
// CHECK-NEXT:     nest.for %lane : vector to 4 {
// CHECK-NEXT:       arith.constant 0.000000e+00
// CHECK-NEXT:       nest.store {{.*}}, %acc[8*%i_1 + 4*%i_2 + %lane]
// CHECK:      nest.for %k : serial to 5
// CHECK:      nest.for %i_5 : unroll to 2 {
// CHECK-NEXT:   nest.for %i_6 : unroll to 2 {
// CHECK-NEXT:     nest.for %{{lane_[0-9]}} : vector to 4 {
// CHECK-NEXT:       nest.load %acc
// CHECK-NEXT:       nest.store {{.*}}, %out[
func.func @block(%A: tensor<4x5xf32> {tile.name = "A"}, %B: tensor<5x16xf32> {tile.name = "B"}) -> (tensor<4x16xf32> {tile.name = "out"}) {
  %0 = lift.transpose %B : (tensor<5x16xf32>) -> tensor<16x5xf32>
  %1 = lift.split(8) %0 : (tensor<16x5xf32>) -> tensor<2x8x5xf32>
  %2 = lift.map_wrg(0)(%b in %1) : (tensor<2x8x5xf32>) -> tensor<2x4x8xf32> {
    %3 = lift.split(2) %A : (tensor<4x5xf32>) -> tensor<2x2x5xf32>
    %4 = lift.map_seq(%5 in %3) : (tensor<2x2x5xf32>) -> tensor<2x2x8xf32> {
      %6 = lift.transpose %5 : (tensor<2x5xf32>) -> tensor<5x2xf32>
      %7 = lift.transpose %b : (tensor<8x5xf32>) -> tensor<5x8xf32>
      %8 = lift.generate(%9) : () -> tensor<2x8xf32> {
        %10 = lift.generate(%11) : () -> tensor<8xf32> {
          %12 = arith.constant 0.000000e+00 : f32
          lift.yield %12 : f32
        }
        lift.yield %10 : tensor<8xf32>
      }
      %13 = lift.zip %6, %7 : (tensor<5x2xf32>, tensor<5x8xf32>) -> tensor<5xtuple<tensor<2xf32>, tensor<8xf32>>>
      %14 = lift.reduce_seq(%sums from %8, %t in %13) : (tensor<2x8xf32>, tensor<5xtuple<tensor<2xf32>, tensor<8xf32>>>) -> tensor<2x8xf32> {
        %15 = lift.get(0) %t : (tuple<tensor<2xf32>, tensor<8xf32>>) -> tensor<2xf32>
        %16 = lift.zip %sums, %15 : (tensor<2x8xf32>, tensor<2xf32>) -> tensor<2xtuple<tensor<8xf32>, f32>>
        %17 = lift.map_seq_unroll(%18 in %16) : (tensor<2xtuple<tensor<8xf32>, f32>>) -> tensor<2x8xf32> {
          %s = lift.get(0) %18 : (tuple<tensor<8xf32>, f32>) -> tensor<8xf32>
          %c = lift.get(1) %18 : (tuple<tensor<8xf32>, f32>) -> f32
          %19 = lift.get(1) %t : (tuple<tensor<2xf32>, tensor<8xf32>>) -> tensor<8xf32>
          %20 = lift.as_vector(4) %s : (tensor<8xf32>) -> tensor<2xvector<4xf32>>
          %21 = lift.as_vector(4) %19 : (tensor<8xf32>) -> tensor<2xvector<4xf32>>
          %22 = lift.zip %20, %21 : (tensor<2xvector<4xf32>>, tensor<2xvector<4xf32>>) -> tensor<2xtuple<vector<4xf32>, vector<4xf32>>>
          %23 = lift.map_seq_unroll(%24 in %22) : (tensor<2xtuple<vector<4xf32>, vector<4xf32>>>) -> tensor<2xvector<4xf32>> {
            %25 = lift.get(0) %24 : (tuple<vector<4xf32>, vector<4xf32>>) -> vector<4xf32>
            %26 = lift.get(1) %24 : (tuple<vector<4xf32>, vector<4xf32>>) -> vector<4xf32>
            %27 = vector.broadcast %c : f32 to vector<4xf32>
            %28 = arith.mulf %27, %26 : vector<4xf32>
            %29 = arith.addf %25, %28 : vector<4xf32>
            lift.yield %29 : vector<4xf32>
          }
          %30 = lift.as_scalar %23 : (tensor<2xvector<4xf32>>) -> tensor<8xf32>
          lift.yield %30 : tensor<8xf32>
        }
        lift.yield %17 : tensor<2x8xf32>
      }
      lift.yield %14 : tensor<2x8xf32>
    }
    %31 = lift.join %4 : (tensor<2x2x8xf32>) -> tensor<4x8xf32>
    lift.yield %31 : tensor<4x8xf32>
  }
  %32 = lift.transpose %2 : (tensor<2x4x8xf32>) -> tensor<4x2x8xf32>
  %33 = lift.map(%34 in %32) : (tensor<4x2x8xf32>) -> tensor<4x16xf32> {
    %35 = lift.join %34 : (tensor<2x8xf32>) -> tensor<16xf32>
    lift.yield %35 : tensor<16xf32>
  }
  func.return %33 : tensor<4x16xf32>
}
