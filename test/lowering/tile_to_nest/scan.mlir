// RUN: tile-opt %s -p tile-to-nest | filecheck %s

// Work-items scan chunks of 4, then the chunks' totals; steps of 8 elements carry on.
// CHECK: "gpu.func"
// CHECK: nest.for %{{.*}} : group.x to 3
// CHECK: %carry = nest.buffer : memref<f32, 5 : i32>
// CHECK: %sums = nest.buffer : memref<1x2xf32, 3 : i32>
// CHECK: %next = nest.buffer : memref<1x2xf32, 3 : i32>
// CHECK: nest.for %{{.*}} : serial to 3
// CHECK: %chunk = nest.buffer : memref<4xf32, 5 : i32>
// CHECK: nest.load %x[%d0, 8*%d1_1 + 4*%d1 + %d1_2] if {{.*}} < 21
// CHECK: nest.store %{{.*}}, %sums[0, %d1]
// CHECK: nest.load %sums[0, %d1 - 1] if 1 <= %d1 else
// CHECK: nest.store %{{.*}}, %next[0, %d1]
// CHECK: nest.load %next[0, 1]
// CHECK: nest.store %{{.*}}, %s[{{.*}}] if {{.*}} < 21
func.func @rows(%X: tensor<3x21xf32>) -> tensor<3x21xf32> {
  %R = tile.kernel(%x = %X : tensor<3x21xf32>) -> tensor<3x21xf32>
    schedule <group.x d0 : 3, local.x 4*d1 : 2, serial 8*d1 : 3, vector d1 : 4> {
    %s = tile.scan add %x axis 1 : (tensor<3x21xf32>) -> tensor<3x21xf32>
    tile.yield %s : tensor<3x21xf32>
  }
  func.return %R : tensor<3x21xf32>
}

// In a scan of runs, whether one began among some elements is kept beside what they come to.
// CHECK: %carry_anew = nest.buffer : memref<i1, 5 : i32>
// CHECK: %sums_anew = nest.buffer : memref<1x2xi1, 3 : i32>
// CHECK: nest.load %k[%d0, 8*%d1_1 + 4*%d1 + %d1_2] if
// CHECK: nest.load %k[%d0, 8*%d1_1 + 4*%d1 + %d1_2 - 1] if
// CHECK: arith.cmpf une
// CHECK: arith.ori
// CHECK: arith.select
func.func @runs(%X: tensor<3x21xf32>, %K: tensor<3x21xf32>) -> tensor<3x21xf32> {
  %R = tile.kernel(%x = %X : tensor<3x21xf32>, %k = %K : tensor<3x21xf32>) -> tensor<3x21xf32>
    schedule <group.x d0 : 3, local.x 4*d1 : 2, serial 8*d1 : 3, vector d1 : 4> {
    %s = tile.scan add %x axis 1 runs %k : (tensor<3x21xf32>, tensor<3x21xf32>) -> tensor<3x21xf32>
    tile.yield %s : tensor<3x21xf32>
  }
  func.return %R : tensor<3x21xf32>
}

// What blocks come to was read before, that of the last one last: work-groups begin with that one.
// CHECK: nest.for %{{.*}} : group.x to 3
// CHECK: nest.load %p[-%d0 + 2]
// CHECK: nest.load %x[-8*%d0 + 4*%d0_1 + %d0_2 + 16]
// CHECK: nest.store %{{.*}}, %s[-8*%d0 + 4*%d0_1 + %d0_4 + 16]
func.func @blocks(%X: tensor<24xf32>, %P: tensor<3xf32>) -> tensor<24xf32> {
  %R = tile.kernel(%x = %X : tensor<24xf32>, %p = %P : tensor<3xf32>) -> tensor<24xf32>
    schedule <group.x 8*d0 : 3, local.x 4*d0 : 2, vector d0 : 4> {
    %s = tile.scan add %x axis 0 every 8 from %p : (tensor<24xf32>, tensor<3xf32>) -> tensor<24xf32>
    tile.yield %s : tensor<24xf32>
  }
  func.return %R : tensor<24xf32>
}
