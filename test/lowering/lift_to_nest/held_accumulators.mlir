// RUN: tile-opt %s -p lift-to-nest | filecheck %s

// A reduction over parts in local memory: each of 2 x 2 work-items holds a block of 2 x 2 sums.
// CHECK:      nest.for %lx : local.x to 2 {
// CHECK-NEXT: nest.for %ly : local.y to 2 {
// CHECK-NEXT: %acc = nest.buffer : memref<4xf32, 5 : i32>
// CHECK-NEXT: nest.for {{.*}} : unroll to 2 {
// CHECK-NEXT: nest.for {{.*}} : unroll to 1 {
// CHECK-NEXT: nest.for {{.*}} : vector to 2 {
// CHECK:      nest.for %k : serial to 2 {
// CHECK:      nest.store {{.*}}, %map_lcl[
// CHECK:      nest.store {{.*}}, %map_lcl_1[
// CHECK:      nest.load %acc[
// CHECK:      nest.for %k_1 : serial to 2 {
// CHECK:      nest.store {{.*}}, %acc[
// CHECK:      nest.load %acc[
// CHECK-NEXT: nest.store {{.*}}, %out[
func.func @parts(%A: tensor<8x4xf32> {tile.name = "A"}, %B: tensor<4x8xf32> {tile.name = "B"}) -> (tensor<8x8xf32> {tile.name = "out"}) {
  %0 = lift.transpose %B : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = lift.split(4) %A : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
  %2 = lift.map_wrg(1)(%3 in %1) : (tensor<2x4x4xf32>) -> tensor<2x4x8xf32> {
    %4 = lift.split(4) %0 : (tensor<8x4xf32>) -> tensor<2x4x4xf32>
    %5 = lift.map_wrg(0)(%b in %4) : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
      %6 = lift.split(2) %3 : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
      %7 = lift.map(%8 in %6) : (tensor<2x2x4xf32>) -> tensor<2x2x2x2xf32> {
        %9 = lift.transpose %8 : (tensor<2x4xf32>) -> tensor<4x2xf32>
        %10 = lift.split(2) %9 : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
        lift.yield %10 : tensor<2x2x2xf32>
      }
      %11 = lift.transpose %7 : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
      %12 = lift.split(2) %b : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
      %13 = lift.map(%b_1 in %12) : (tensor<2x2x4xf32>) -> tensor<2x2x2x2xf32> {
        %14 = lift.transpose %b_1 : (tensor<2x4xf32>) -> tensor<4x2xf32>
        %15 = lift.split(2) %14 : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
        lift.yield %15 : tensor<2x2x2xf32>
      }
      %16 = lift.transpose %13 : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
      %17 = lift.generate(%18) : () -> tensor<2x2x2x2xf32> {
        %19 = lift.generate(%20) : () -> tensor<2x2x2xf32> {
          %21 = lift.generate(%22) : () -> tensor<2x2xf32> {
            %23 = lift.generate(%24) : () -> tensor<2xf32> {
              %25 = arith.constant 0.000000e+00 : f32
              lift.yield %25 : f32
            }
            lift.yield %23 : tensor<2xf32>
          }
          lift.yield %21 : tensor<2x2xf32>
        }
        lift.yield %19 : tensor<2x2x2xf32>
      }
      %26 = lift.zip %11, %16 : (tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<2xtuple<tensor<2x2x2xf32>, tensor<2x2x2xf32>>>
      %27 = lift.reduce_seq(%s from %17, %t in %26) : (tensor<2x2x2x2xf32>, tensor<2xtuple<tensor<2x2x2xf32>, tensor<2x2x2xf32>>>) -> tensor<2x2x2x2xf32> {
        %28 = lift.get(0) %t : (tuple<tensor<2x2x2xf32>, tensor<2x2x2xf32>>) -> tensor<2x2x2xf32>
        %29 = lift.get(1) %t : (tuple<tensor<2x2x2xf32>, tensor<2x2x2xf32>>) -> tensor<2x2x2xf32>
        %30 = lift.transpose %29 : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %31 = lift.map_lcl(0)(%32 in %30) : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
          %33 = lift.map_lcl(1)(%a in %32) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
            lift.yield %a : tensor<2xf32>
          }
          lift.yield %33 : tensor<2x2xf32>
        }
        %34 = lift.to_local %31 : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %35 = lift.transpose %34 : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %36 = lift.transpose %28 : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %37 = lift.map_lcl(1)(%38 in %36) : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
          %39 = lift.map_lcl(0)(%a_1 in %38) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
            lift.yield %a_1 : tensor<2xf32>
          }
          lift.yield %39 : tensor<2x2xf32>
        }
        %40 = lift.to_local %37 : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %41 = lift.transpose %40 : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %42 = lift.zip %s, %41 : (tensor<2x2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2xtuple<tensor<2x2x2xf32>, tensor<2x2xf32>>>
        %43 = lift.map_lcl(1)(%44 in %42) : (tensor<2xtuple<tensor<2x2x2xf32>, tensor<2x2xf32>>>) -> tensor<2x2x2x2xf32> {
          %s_1 = lift.get(0) %44 : (tuple<tensor<2x2x2xf32>, tensor<2x2xf32>>) -> tensor<2x2x2xf32>
          %c = lift.get(1) %44 : (tuple<tensor<2x2x2xf32>, tensor<2x2xf32>>) -> tensor<2x2xf32>
          %45 = lift.zip %s_1, %35 : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2xtuple<tensor<2x2xf32>, tensor<2x2xf32>>>
          %46 = lift.map_lcl(0)(%47 in %45) : (tensor<2xtuple<tensor<2x2xf32>, tensor<2x2xf32>>>) -> tensor<2x2x2xf32> {
            %s_2 = lift.get(0) %47 : (tuple<tensor<2x2xf32>, tensor<2x2xf32>>) -> tensor<2x2xf32>
            %c_1 = lift.get(1) %47 : (tuple<tensor<2x2xf32>, tensor<2x2xf32>>) -> tensor<2x2xf32>
            %48 = lift.zip %c, %c_1 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xtuple<tensor<2xf32>, tensor<2xf32>>>
            %49 = lift.reduce_seq(%sums from %s_2, %t_1 in %48) : (tensor<2x2xf32>, tensor<2xtuple<tensor<2xf32>, tensor<2xf32>>>) -> tensor<2x2xf32> {
              %50 = lift.get(0) %t_1 : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
              %51 = lift.zip %sums, %50 : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xtuple<tensor<2xf32>, f32>>
              %52 = lift.map_seq_unroll(%53 in %51) : (tensor<2xtuple<tensor<2xf32>, f32>>) -> tensor<2x2xf32> {
                %s_3 = lift.get(0) %53 : (tuple<tensor<2xf32>, f32>) -> tensor<2xf32>
                %c_2 = lift.get(1) %53 : (tuple<tensor<2xf32>, f32>) -> f32
                %54 = lift.get(1) %t_1 : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
                %55 = lift.as_vector(2) %s_3 : (tensor<2xf32>) -> tensor<1xvector<2xf32>>
                %56 = lift.as_vector(2) %54 : (tensor<2xf32>) -> tensor<1xvector<2xf32>>
                %57 = lift.zip %55, %56 : (tensor<1xvector<2xf32>>, tensor<1xvector<2xf32>>) -> tensor<1xtuple<vector<2xf32>, vector<2xf32>>>
                %58 = lift.map_seq_unroll(%59 in %57) : (tensor<1xtuple<vector<2xf32>, vector<2xf32>>>) -> tensor<1xvector<2xf32>> {
                  %60 = lift.get(0) %59 : (tuple<vector<2xf32>, vector<2xf32>>) -> vector<2xf32>
                  %61 = lift.get(1) %59 : (tuple<vector<2xf32>, vector<2xf32>>) -> vector<2xf32>
                  %62 = vector.broadcast %c_2 : f32 to vector<2xf32>
                  %63 = arith.mulf %62, %61 : vector<2xf32>
                  %64 = arith.addf %60, %63 : vector<2xf32>
                  lift.yield %64 : vector<2xf32>
                }
                %65 = lift.as_scalar %58 : (tensor<1xvector<2xf32>>) -> tensor<2xf32>
                lift.yield %65 : tensor<2xf32>
              }
              lift.yield %52 : tensor<2x2xf32>
            }
            lift.yield %49 : tensor<2x2xf32>
          }
          lift.yield %46 : tensor<2x2x2xf32>
        }
        lift.yield %43 : tensor<2x2x2x2xf32>
      }
      %66 = lift.to_private %27 : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
      %67 = lift.map(%68 in %66) : (tensor<2x2x2x2xf32>) -> tensor<2x2x4xf32> {
        %69 = lift.transpose %68 : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
        %70 = lift.map(%71 in %69) : (tensor<2x2x2xf32>) -> tensor<2x4xf32> {
          %72 = lift.join %71 : (tensor<2x2xf32>) -> tensor<4xf32>
          lift.yield %72 : tensor<4xf32>
        }
        lift.yield %70 : tensor<2x4xf32>
      }
      %73 = lift.join %67 : (tensor<2x2x4xf32>) -> tensor<4x4xf32>
      lift.yield %73 : tensor<4x4xf32>
    }
    %74 = lift.transpose %5 : (tensor<2x4x4xf32>) -> tensor<4x2x4xf32>
    %75 = lift.map(%76 in %74) : (tensor<4x2x4xf32>) -> tensor<4x8xf32> {
      %77 = lift.join %76 : (tensor<2x4xf32>) -> tensor<8xf32>
      lift.yield %77 : tensor<8xf32>
    }
    lift.yield %75 : tensor<4x8xf32>
  }
  %78 = lift.join %2 : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  func.return %78 : tensor<8x8xf32>
}
