// RUN: tile-opt %s -p tile-to-gpu | filecheck %s
// RUN: tile-opt %s -p tile-to-gpu -t opencl | filecheck %s --check-prefix=OPENCL

// Groups and work-items become ids, serial levels loops; a tile that does not divide is tested.
// CHECK:      builtin.module attributes {gpu.container_module} {
// CHECK-NEXT:   "gpu.module"() <{sym_name = "product_kernels"}> ({
// CHECK:          "gpu.block_id"() <{dimension = #gpu<dim y>}>
// CHECK:          "gpu.block_id"() <{dimension = #gpu<dim x>}>
// CHECK:          "gpu.thread_id"() <{dimension = #gpu<dim x>}>
// CHECK:          arith.cmpi slt
// CHECK:          scf.if
// CHECK:            scf.for %k
// CHECK:            memref.store
// CHECK:        sym_name = "product_0_C", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.kernel, gpu.known_grid_size = array<i32: 2, 3, 1>
// CHECK:      dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>
// CHECK-NEXT: func.func @product(%A: memref<3x5xf32, 1 : i32> {tile.name = "A"}, %B: memref<5x7xf32, 1 : i32> {tile.name = "B"}) -> (memref<3x7xf32, 1 : i32> {tile.name = "C"}) {
// CHECK-NEXT:   %C = "gpu.alloc"()
// CHECK:        "gpu.launch_func"
// CHECK-NEXT:   func.return %C

// OPENCL-LABEL: void product_0_C(
// OPENCL:           int v = group_x * 4 + item_x;
// OPENCL-NEXT:      int v_1 = group_y * 5;
// OPENCL-NEXT:      int v_2 = group_y * 7 + group_x * 4 + item_x;
// OPENCL-NEXT:      if (v < 7) {
// OPENCL-NEXT:          float acc = 0.0f;
// OPENCL-NEXT:          for (int k = 0; k < 5; ++k) {
// OPENCL-NEXT:              acc += a[v_1 + k] * b[v + k * 7];
// OPENCL-NEXT:          }
// OPENCL-NEXT:          c[v_2] = acc;
// OPENCL-NEXT:      }
func.func @product(%A: tensor<3x5xf32> {tile.name = "A"}, %B: tensor<5x7xf32> {tile.name = "B"}) -> (tensor<3x7xf32> {tile.name = "C"}) {
  %C = tile.kernel(%a = %A : tensor<3x5xf32>, %b = %B : tensor<5x7xf32>) -> tensor<3x7xf32> schedule <group.y i : 3, group.x 4*j : 2, local.x j : 4, serial k : 5> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 3, j = 0 to 7, k = 0 to 5> : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
    tile.yield %c : tensor<3x7xf32>
  }
  func.return %C : tensor<3x7xf32>
}

// Unsigned types are kept beside the names; unrolled levels are straight code.
// CHECK: func.func @unrolled(%A: memref<3xi8, 1 : i32> {tile.element_type = ui8}) -> (memref<3xi8, 1 : i32> {tile.element_type = ui8}) {
// OPENCL-LABEL: void unrolled_0_
// OPENCL:           C[0] =
// OPENCL:           C[1] =
// OPENCL:           C[2] =
func.func @unrolled(%A: tensor<3xui8>) -> tensor<3xui8> {
  %C = tile.kernel(%a = %A : tensor<3xui8>) -> tensor<3xui8> schedule <unroll d0 : 3> {
    %C = tile.add %a, %a : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
    tile.yield %C : tensor<3xui8>
  }
  func.return %C : tensor<3xui8>
}

// A test is made as soon as its indices are known; a maximum remembers if anything landed.
// OPENCL-LABEL: void pool_0_
// OPENCL:           for (int j = 0; j < 3; ++j) {
// OPENCL-NEXT:          int v_1 = v + j;
// OPENCL-NEXT:          if (1 <= v_1 && v_1 < 7) {
// OPENCL:           P[item_x] = landed ? acc : 0.0f;
func.func @pool(%A: tensor<6xf32>) -> tensor<4xf32> {
  %P = tile.kernel(%a = %A : tensor<6xf32>) -> tensor<4xf32> schedule <local.x i : 4, serial j : 3> {
    %P = tile.contraction max(%a[4*i + j - 1]) -> [i] where 0 <= j < 3 domain <i = 0 to 4, j = 0 to 3> : (tensor<6xf32>) -> tensor<4xf32>
    tile.yield %P : tensor<4xf32>
  }
  func.return %P : tensor<4xf32>
}

// What a contraction leaves unwritten is its default: it writes over that, or a copy if something
// else needs it.
// CHECK:        func.func @skip
// CHECK:          %F = "gpu.alloc"
// CHECK:          "gpu.launch_func"({{.*}}, %F) <{kernel = @skip_kernels::@skip_0_F
// CHECK:          "gpu.launch_func"({{.*}}, %A, %F) <{kernel = @skip_kernels::@skip_1_S
// CHECK-NEXT:     %D = "gpu.alloc"
// CHECK:          "gpu.memcpy"(%D, %T)
// CHECK:          func.return %F, %D
func.func @skip(%A: tensor<4xf32>, %T: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %F = tile.kernel() -> tensor<8xf32> schedule <local.x i : 8> {
    %one = tile.constant 1 : tensor<f32>
    %f = tile.contraction assign(%one[]) -> [i] domain <i = 0 to 8> : (tensor<f32>) -> tensor<8xf32>
    tile.yield %f : tensor<8xf32>
  }
  %S = tile.kernel(%a = %A : tensor<4xf32>, %f = %F : tensor<8xf32>) -> tensor<8xf32> schedule <local.x i : 4> {
    %s = tile.contraction add(%a[i]) -> [2*i] default %f domain <i = 0 to 4> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  %D = tile.kernel(%a = %A : tensor<4xf32>, %t = %T : tensor<8xf32>) -> tensor<8xf32> schedule <local.x i : 4> {
    %s = tile.contraction add(%a[i]) -> [2*i] default %t domain <i = 0 to 4> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S, %D : tensor<8xf32>, tensor<8xf32>
}

// A dead intermediate is released; an input that is returned is copied; a reshape is a view.
// CHECK:        func.func @memory
// CHECK:          %E = "gpu.alloc"()
// CHECK:          "gpu.launch_func"
// CHECK:          %R = memref.reinterpret_cast %E to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<8xf32, 1 : i32> to memref<2x4xf32, 1 : i32>
// CHECK:          %F = "gpu.alloc"()
// CHECK:          "gpu.launch_func"
// CHECK-NEXT:     "gpu.dealloc"(%E)
// CHECK:          "gpu.memcpy"(%A
func.func @memory(%A: tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) {
  %E = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <local.x d0 : 8> {
    %e = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %e : tensor<8xf32>
  }
  %R = tile.reshape %E to [] : tensor<8xf32> -> tensor<2x4xf32>
  %F = tile.kernel(%r = %R : tensor<2x4xf32>) -> tensor<2x4xf32> schedule <local.x d0 : 2, local.x d1 : 4> {
    %f = tile.log %r : (tensor<2x4xf32>) -> tensor<2x4xf32>
    tile.yield %f : tensor<2x4xf32>
  }
  func.return %F, %A : tensor<2x4xf32>, tensor<8xf32>
}
