// Where columns alone fill the device, a work-item has all rows of the result: they lie together.
// RUN: tile-opt %s -p tile-fuse,tile-loop-tiling | tile-opt | filecheck %s

// CHECK: schedule <group.x 64*d1 : 16, serial d0 : 500, unroll 16*d1 : 4, vector d1 : 16>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64>>} {
func.func @scatter(%U: tensor<3000x1000xf32>, %I: tensor<3000xi32>, %V: tensor<500x1000xf32>) -> tensor<500x1000xf32> {
  %R = tile.scatter %U, %I, %V : (tensor<3000x1000xf32>, tensor<3000xi32>, tensor<500x1000xf32>) -> tensor<500x1000xf32>
  func.return %R : tensor<500x1000xf32>
}
}
