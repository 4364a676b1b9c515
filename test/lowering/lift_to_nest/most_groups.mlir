// RUN: tile-opt %s -p 'lift-to-gpu{index-width=32}' -t opencl | filecheck %s
// RUN: tile-opt %s -p 'lift-to-nest{index-width=32}' | filecheck %s --check-prefix=NEST

// With a limit each work-group goes through rows in strides.
// CHECK:      for (int x_1 = group_x; x_1 < 37; x_1 += 3) {
// CHECK-NEXT:   int v = item_x + x_1 * 24;
// NEST:       gpu.known_grid_size = array<i32: 3, 1, 1>
func.func @rows(%x: tensor<37x24xf32> {tile.name = "x"}) -> (tensor<37x24xf32> {tile.name = "out"}) {
  %0 = lift.map_wrg(0)(%row in %x) : (tensor<37x24xf32>) -> tensor<37x24xf32> attributes {lift.groups = 3 : i64} {
    %1 = lift.map_lcl(0)(%a in %row) : (tensor<24xf32>) -> tensor<24xf32> {
      %2 = arith.mulf %a, %a : f32
      lift.yield %2 : f32
    }
    lift.yield %1 : tensor<24xf32>
  }
  func.return %0 : tensor<37x24xf32>
}

// So do work-items, of which a group has 64.
// CHECK-LABEL: __kernel {{.*}}all
// CHECK:      for (int x_1 = group_x * 64 + item_x; x_1 < 1000; x_1 += 128) {
// NEST:       gpu.known_grid_size = array<i32: 2, 1, 1>
func.func @all(%x: tensor<1000xf32> {tile.name = "x"}) -> (tensor<1000xf32> {tile.name = "out"}) {
  %0 = lift.map_glb(0)(%a in %x) : (tensor<1000xf32>) -> tensor<1000xf32> attributes {lift.groups = 2 : i64} {
    %1 = arith.mulf %a, %a : f32
    lift.yield %1 : f32
  }
  func.return %0 : tensor<1000xf32>
}

// No map has more groups than elements.
// NEST:       gpu.known_grid_size = array<i32: 5, 1, 1>
func.func @few(%x: tensor<5x8xf32> {tile.name = "x"}) -> (tensor<5x8xf32> {tile.name = "out"}) {
  %0 = lift.map_wrg(0)(%row in %x) : (tensor<5x8xf32>) -> tensor<5x8xf32> attributes {lift.groups = 9 : i64} {
    %1 = lift.map_lcl(0)(%a in %row) : (tensor<8xf32>) -> tensor<8xf32> {
      %2 = arith.mulf %a, %a : f32
      lift.yield %2 : f32
    }
    lift.yield %1 : tensor<8xf32>
  }
  func.return %0 : tensor<5x8xf32>
}
