// RUN: tile-opt %s -p 'lift-to-nest{count}' | filecheck %s
// RUN: tile-opt %s -p lift-to-nest | filecheck %s --check-prefix=PLAIN

// Views that cancel each other leave no operations on indices.
// CHECK: index_operations.before = 8 : i64, index_operations.after = 0 : i64
// PLAIN:     gpu.known_block_size
// PLAIN-NOT:   index_operations
func.func @copied(%x: tensor<24xf32> {tile.name = "x"}) -> (tensor<24xf32> {tile.name = "out"}) {
  %0 = lift.split(4) %x : (tensor<24xf32>) -> tensor<6x4xf32>
  %1 = lift.join %0 : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = lift.map_glb(0)(%a in %1) : (tensor<24xf32>) -> tensor<24xf32> {
    %3 = arith.mulf %a, %a : f32
    lift.yield %3 : f32
  }
  func.return %2 : tensor<24xf32>
}
