// RUN: tile-opt %s -p tile-to-gpu --verify-diagnostics --split-input-file | filecheck %s

// CHECK: O[3] would be computed by two work-items, at i = {{.*}} and i = {{.*}}: run tile-reduce and tile-defract first
func.func @shared(%A: tensor<4xf32>, %B: tensor<5xf32>) -> tensor<8xf32> {
  %O = tile.kernel(%a = %A : tensor<4xf32>, %b = %B : tensor<5xf32>) -> tensor<8xf32> schedule <local.x i : 4, local.x j : 5> {
    %O = tile.contraction add(%a[i] mul %b[j]) -> [i + j] domain <i = 0 to 4, j = 0 to 5> : (tensor<4xf32>, tensor<5xf32>) -> tensor<8xf32>
    tile.yield %O : tensor<8xf32>
  }
  func.return %O : tensor<8xf32>
}

// -----

// CHECK: nothing lands on some elements of s: it must be alone in its kernel
func.func @not_alone(%A: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %S, %T = tile.kernel(%a = %A : tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) schedule <local.x i : 4> {
    %s = tile.contraction add(%a[i]) -> [2*i] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<8xf32>
    %t = tile.exp %s : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %s, %t : tensor<8xf32>, tensor<8xf32>
  }
  func.return %S, %T : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK: e is read at other elements than its own: it cannot be computed in the same kernel
func.func @read_elsewhere(%A: tensor<4xf32>, %I: tensor<4xi32>) -> tensor<4xf32> {
  %S = tile.kernel(%a = %A : tensor<4xf32>, %i = %I : tensor<4xi32>) -> tensor<4xf32> schedule <local.x d0 : 4> {
    %e = tile.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %s = tile.gather %e, %i : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
    tile.yield %s : tensor<4xf32>
  }
  func.return %S : tensor<4xf32>
}

// -----

// CHECK: no pass lowers builtin.unrealized_conversion_cast, of the dialect builtin, to kernels
func.func @casts(%A: tensor<4xf32>) -> tensor<4xf32> {
  %S = builtin.unrealized_conversion_cast %A : tensor<4xf32> to tensor<4xf32>
  func.return %S : tensor<4xf32>
}

// -----

// CHECK: tile.exp must be in a kernel: run tile-fuse first
func.func @bare(%A: tensor<4xf32>) -> tensor<4xf32> {
  %S = tile.exp %A : (tensor<4xf32>) -> tensor<4xf32>
  func.return %S : tensor<4xf32>
}

// -----

// CHECK: open takes tensor<?xf32>: run tile-specialize first
func.func @open(%A: tensor<?xf32>) -> tensor<?xf32> {
  func.return %A : tensor<?xf32>
}

// -----

// A domain may be wider than the points; what is outside of the output is not written.
// CHECK: gpu.module
// CHECK: arith.cmpi slt
// CHECK: memref.store
func.func @wide(%A: tensor<4xf32>) -> tensor<4xf32> {
  %S = tile.kernel(%a = %A : tensor<4xf32>) -> tensor<4xf32> schedule <local.x i : 8> {
    %s = tile.contraction add(%a[i]) -> [i] domain <i = 0 to 8> : (tensor<4xf32>) -> tensor<4xf32>
    tile.yield %s : tensor<4xf32>
  }
  func.return %S : tensor<4xf32>
}

// -----

// CHECK: nothing lands on some elements of s: it needs a default in memory, of its type
func.func @no_default(%A: tensor<4xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<4xf32>) -> tensor<8xf32> schedule <local.x i : 4> {
    %s = tile.contraction add(%a[i]) -> [2*i] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}

// -----

// CHECK: the indices of s have fractions: run tile-defract first
func.func @fractions(%A: tensor<4xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<4xf32>) -> tensor<8xf32> schedule <local.x i : 8, serial j : 2> {
    %s = tile.contraction assign(%a[1/2*i - 1/2*j]) -> [i] where 0 <= j < 2 domain <i = 0 to 8, j = 0 to 2> : (tensor<4xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}
