// RUN: tile-opt %s -p 'lift-to-nest{print-views}' --split-input-file | filecheck %s

// The views of the slides: a stencil of three points.
// CHECK:      // In stencil_0_sums
// CHECK-NEXT: // input is read:
// CHECK-NEXT: //   access k       []
// CHECK-NEXT: //   access x       [k]
// CHECK-NEXT: //   slide(3, 1)    [x, k]
// CHECK-NEXT: //   pad(1, clamp)  [k + x]
// CHECK-NEXT: //   input          [(1 <= k + x ? (k + x <= N ? k + x - 1 : N - 1) : 0)]
// CHECK-NEXT: // sums is written:
// CHECK-NEXT: //   access x  []
// CHECK-NEXT: //   sums      [x]
// CHECK:      nest.for %gx : group.x to %groups_x {
// CHECK-NEXT:   nest.for %lx : local.x to 64 {
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     nest.for %x = 64*%gx + %lx to %N step 64*%groups_x : serial {
// CHECK-NEXT:       %acc = nest.buffer : memref<f32, 5 : i32>
// CHECK-NEXT:       nest.store %zero, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:       nest.for %k : serial to 3 {
// CHECK-NEXT:         %acc_1 = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:         %input_1 = nest.load %input[(1 <= %k + %x ? (%k + %x <= %N ? %k + %x - 1 : %N - 1) : 0)] : memref<?xf32, 1 : i32>
// CHECK-NEXT:         %y = arith.addf %acc_1, %input_1 : f32
// CHECK-NEXT:         nest.store %y, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %acc_2 = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:       nest.store %acc_2, %sums[%x] : f32, memref<?xf32, 1 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @stencil(%input: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %zero = arith.constant 0.0 : f32
  %padded = lift.pad(1, 1, clamp) %input : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %windows = lift.slide(3, 1) %padded : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %sums = lift.map_glb(0)(%window in %windows) : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %sum = lift.reduce_seq(%acc from %zero, %x in %window) : (f32, tensor<3xf32>) -> f32 {
      %y = arith.addf %acc, %x : f32
      lift.yield %y : f32
    }
    lift.yield %sum : f32
  }
  func.return %sums : tensor<?xf32, #lift.sizes<N>>
}

// -----

// What only lays out costs nothing: reversed columns of a matrix, joined and split, are computed
// indices; the sizes divide out.
// CHECK:      // In columns_0_r
// CHECK-NEXT: // a is read:
// CHECK-NEXT: //   get 0                    []
// CHECK-NEXT: //   access x                 [get 0]
// CHECK-NEXT: //   zip                      [x, get 0]
// CHECK-NEXT: //   access y                 [x]
// CHECK-NEXT: //   reorder(i -> M - i - 1)  [y, x]
// CHECK-NEXT: //   transpose                [M - y - 1, x]
// CHECK-NEXT: //   split(M)                 [x, M - y - 1]
// CHECK-NEXT: //   join(M)                  [M*x + M - y - 1]
// CHECK-NEXT: //   a                        [x, M - y - 1]
// CHECK-NEXT: //                            [M*x + M - y - 1]
// CHECK-NEXT: // b is read:
// CHECK-NEXT: //   get 1     []
// CHECK-NEXT: //   access x  [get 1]
// CHECK-NEXT: //   zip       [x, get 1]
// CHECK-NEXT: //   b         [x]
// CHECK-NEXT: // r is written:
// CHECK-NEXT: //   access x  []
// CHECK-NEXT: //   access y  [x]
// CHECK-NEXT: //   r         [y, x]
// CHECK-NEXT: //             [N*y + x]
// CHECK:      nest.for %gx : group.x to %groups_x {
// CHECK-NEXT:   %groups_y = "gpu.grid_dim"() <{dimension = #gpu<dim y>}> : () -> index
// CHECK-NEXT:   nest.for %gy : group.y to %groups_y {
// CHECK-NEXT:     nest.for %lx : local.x to 16 {
// CHECK-NEXT:       nest.for %ly : local.y to 4 {
// CHECK-NEXT:         nest.for %y = 4*%gy + %ly to %M step 4*%groups_y : serial {
// CHECK-NEXT:           nest.for %x = 16*%gx + %lx to %N step 16*%groups_x : serial {
// CHECK-NEXT:             %a_1 = nest.load %a[%M*%x + %M - %y - 1] : memref<?xf32, 1 : i32>
// CHECK-NEXT:             %b_1 = nest.load %b[%x] : memref<?xf32, 1 : i32>
// CHECK-NEXT:             %y_1 = arith.mulf %a_1, %b_1 : f32
// CHECK-NEXT:             nest.store %y_1, %r[%N*%y + %x] : f32, memref<?xf32, 1 : i32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @columns(%a: tensor<?x?xf32, #lift.sizes<N, M>>, %b: tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<M, N>> {
  %joined = lift.join %a : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>
  %split = lift.split(M) %joined : (tensor<?xf32, #lift.sizes<M*N>>) -> tensor<?x?xf32, #lift.sizes<N, M>>
  %columns = lift.transpose %split : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %reversed = lift.gather(i -> M - 1 - i) %columns : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %r = lift.map_glb(1)(%column in %reversed) : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?xf32, #lift.sizes<M, N>> {
    %pairs = lift.zip %column, %b : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
    %products = lift.map_glb(0)(%pair in %pairs) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %p = lift.get(0) %pair : (tuple<f32, f32>) -> f32
      %q = lift.get(1) %pair : (tuple<f32, f32>) -> f32
      %y = arith.mulf %p, %q : f32
      lift.yield %y : f32
    }
    lift.yield %products : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %r : tensor<?x?xf32, #lift.sizes<M, N>>
}

// -----

// After the computation, layout says where results go: a transposition, a reversal, and a concat.
// CHECK:      // In after_0_r
// CHECK-NEXT: // a is read:
// CHECK-NEXT: //   access lx  []
// CHECK-NEXT: //   access ly  [lx]
// CHECK-NEXT: //   a          [ly, lx]
// CHECK-NEXT: //              [6*ly + lx]
// CHECK-NEXT: // both is written:
// CHECK-NEXT: //   access lx             []
// CHECK-NEXT: //   access ly             [lx]
// CHECK-NEXT: //   transpose             [ly, lx]
// CHECK-NEXT: //   reorder(i -> -i + 5)  [lx, ly]
// CHECK-NEXT: //   split(4)              [-lx + 5, ly]
// CHECK-NEXT: //   slice(0)              [-4*lx + ly + 20]
// CHECK-NEXT: //   both                  [-4*lx + ly + 20]
// CHECK-NEXT: // In after_1_a
// CHECK-NEXT: // a is read:
// CHECK-NEXT: //   access lx  []
// CHECK-NEXT: //   access ly  [lx]
// CHECK-NEXT: //   a          [ly, lx]
// CHECK-NEXT: //              [6*ly + lx]
// CHECK-NEXT: // both is written:
// CHECK-NEXT: //   access lx  []
// CHECK-NEXT: //   access ly  [lx]
// CHECK-NEXT: //   split(6)   [ly, lx]
// CHECK-NEXT: //   slice(24)  [6*ly + lx]
// CHECK-NEXT: //   both       [6*ly + lx + 24]
// CHECK:      nest.for %lx : local.x to 6 {
// CHECK-NEXT:   nest.for %ly : local.y to 4 {
// CHECK-NEXT:     %a_1 = nest.load %a[6*%ly + %lx] : memref<24xf32, 1 : i32>
// CHECK-NEXT:     %a_2 = nest.load %a[6*%ly + %lx] : memref<24xf32, 1 : i32>
// CHECK-NEXT:     %y = arith.addf %a_1, %a_2 : f32
// CHECK-NEXT:     nest.store %y, %both[-4*%lx + %ly + 20] : f32, memref<48xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK:      nest.for %lx : local.x to 6 {
// CHECK-NEXT:   nest.for %ly : local.y to 4 {
// CHECK-NEXT:     %a_1 = nest.load %a[6*%ly + %lx] : memref<24xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a_1, %both[6*%ly + %lx + 24] : f32, memref<48xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @after(%a: tensor<4x6xf32>) -> tensor<48xf32> {
  %r = lift.map_glb(1)(%row in %a) : (tensor<4x6xf32>) -> tensor<4x6xf32> {
    %s = lift.map_glb(0)(%x in %row) : (tensor<6xf32>) -> tensor<6xf32> {
      %y = arith.addf %x, %x : f32
      lift.yield %y : f32
    }
    lift.yield %s : tensor<6xf32>
  }
  %t = lift.transpose %r : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %back = lift.scatter(i -> 5 - i) %t : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %flat = lift.join %back : (tensor<6x4xf32>) -> tensor<24xf32>
  %input = lift.join %a : (tensor<4x6xf32>) -> tensor<24xf32>
  %both = lift.concat %flat, %input : (tensor<24xf32>, tensor<24xf32>) -> tensor<48xf32>
  func.return %both : tensor<48xf32>
}

// -----

// An element beyond the ends is not loaded: a constant is there.
// CHECK:      // In constant_0_r
// CHECK-NEXT: // one of two is read:
// CHECK-NEXT: //   access lx        []
// CHECK-NEXT: //   slice(0)         [lx]
// CHECK-NEXT: //   pad_constant(1)  [lx]
// CHECK-NEXT: //   choice           where 1 <= lx
// CHECK-NEXT: // x is read:
// CHECK-NEXT: //   x  [lx - 1]
// CHECK-NEXT: // r is written:
// CHECK-NEXT: //   access lx  []
// CHECK-NEXT: //   r          [lx]
// CHECK:      nest.for %lx : local.x to 8 {
// CHECK-NEXT:   %one_1 = nest.load %one[0] if %lx < 1 : memref<1xf32, 1 : i32>
// CHECK-NEXT:   %x_1 = nest.load %x[%lx - 1] if 1 <= %lx else %one_1 : memref<8xf32, 1 : i32>
// CHECK-NEXT:   %one_2 = nest.load %one[0] if %lx < 1 : memref<1xf32, 1 : i32>
// CHECK-NEXT:   %x_2 = nest.load %x[%lx - 1] if 1 <= %lx else %one_2 : memref<8xf32, 1 : i32>
// CHECK-NEXT:   %y = arith.addf %x_1, %x_2 : f32
// CHECK-NEXT:   nest.store %y, %r[%lx] : f32, memref<8xf32, 1 : i32>
// CHECK-NEXT: }
func.func @constant(%x: tensor<8xf32>, %one: tensor<f32>) -> tensor<8xf32> {
  %c = tensor.extract %one[] : tensor<f32>
  %padded = lift.pad_constant(1, 0) %x, %c : (tensor<8xf32>, f32) -> tensor<9xf32>
  %part = lift.slice(0, 8) %padded : (tensor<9xf32>) -> tensor<8xf32>
  %r = lift.map_glb(0)(%e in %part) : (tensor<8xf32>) -> tensor<8xf32> {
    %y = arith.addf %e, %e : f32
    lift.yield %y : f32
  }
  func.return %r : tensor<8xf32>
}

// -----

// What all items of a group would write, the first writes; a map without a word is in its reader.
// CHECK:      // In partial_0_r
// CHECK-NEXT: // x is read:
// CHECK-NEXT: //   access lx  []
// CHECK-NEXT: //   access gx  [lx]
// CHECK-NEXT: //   x          [gx, lx]
// CHECK-NEXT: //              [8*gx + lx]
// CHECK-NEXT: // squares is written:
// CHECK-NEXT: //   access lx  []
// CHECK-NEXT: //   squares    [lx]
// CHECK-NEXT: // squares is read:
// CHECK-NEXT: //   access k  []
// CHECK-NEXT: //   squares   [k]
// CHECK-NEXT: // r is written:
// CHECK-NEXT: //   access gx  []
// CHECK-NEXT: //   r          [gx]
// CHECK:      nest.for %gx : group.x to 4 {
// CHECK-NEXT:   nest.for %lx : local.x to 8 {
// CHECK-NEXT:     %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %squares = nest.buffer : memref<8xf32, 3 : i32>
// CHECK-NEXT:     %x_1 = nest.load %x[8*%gx + %lx] : memref<32xf32, 1 : i32>
// CHECK-NEXT:     %x_2 = nest.load %x[8*%gx + %lx] : memref<32xf32, 1 : i32>
// CHECK-NEXT:     %y = arith.mulf %x_1, %x_2 : f32
// CHECK-NEXT:     nest.store %y, %squares[%lx] : f32, memref<8xf32, 3 : i32>
// CHECK-NEXT:     %acc = nest.buffer : memref<f32, 5 : i32>
// CHECK-NEXT:     nest.store %zero, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:     nest.for %k : serial to 8 {
// CHECK-NEXT:       %acc_1 = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:       %squares_1 = nest.load %squares[%k] : memref<8xf32, 3 : i32>
// CHECK-NEXT:       %y_1 = arith.addf %acc_1, %squares_1 : f32
// CHECK-NEXT:       nest.store %y_1, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %acc_2 = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:     nest.store %acc_2, %r[%gx] if %lx == 0 : f32, memref<4xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @partial(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %r = lift.map_wrg(0)(%part in %x) : (tensor<4x8xf32>) -> tensor<4xf32> {
    %squares = lift.map_lcl(0)(%e in %part) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %e, %e : f32
      lift.yield %y : f32
    }
    %sum = lift.reduce_seq(%acc from %zero, %e in %squares) : (f32, tensor<8xf32>) -> f32 {
      %y = arith.addf %acc, %e : f32
      lift.yield %y : f32
    }
    lift.yield %sum : f32
  }
  func.return %r : tensor<4xf32>
}

// -----

// A number in all lanes is that number.
// CHECK:      // In scaled_0_scaled
// CHECK:      nest.for %lane : vector to 4 {
// CHECK-NEXT:   %one_1 = nest.load %one[0] : memref<1xf32, 1 : i32>
// CHECK-NEXT:   %x_1 = nest.load %x[4*%lx + %lane] : memref<8xf32, 1 : i32>
// CHECK-NEXT:   %r_1 = arith.mulf %one_1, %x_1 : f32
func.func @scaled(%one: tensor<f32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %a = tensor.extract %one[] : tensor<f32>
  %wide = vector.broadcast %a : f32 to vector<4xf32>
  %vectors = lift.as_vector(4) %x : (tensor<8xf32>) -> tensor<2xvector<4xf32>>
  %scaled = lift.map_glb(0)(%v in %vectors) : (tensor<2xvector<4xf32>>) -> tensor<2xvector<4xf32>> {
    %w = arith.mulf %wide, %v : vector<4xf32>
    lift.yield %w : vector<4xf32>
  }
  %r = lift.as_scalar %scaled : (tensor<2xvector<4xf32>>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// -----

// One test of an index where pads are nested: those of the outer one are implied, or join the inner's.
// CHECK:      // In nested_0_both
// CHECK:      %[[C:.*]] = nest.load %x[(2 <= %{{.*}} ? (%{{.*}} <= %N + 1 ? %{{.*}} - 2 : %N - 1) : 0)]
// CHECK:      %[[Z:.*]] = nest.load %x[%{{.*}} - 2] if 2 <= %{{.*}} and %{{.*}} <= %N + 1 else %
// CHECK-NOT:  select
// CHECK:      arith.addf %[[C]], %[[Z]]
func.func @nested(%x: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 4>> {
  %zero = arith.constant 0.0 : f32
  %again = arith.constant 0.0 : f32
  %c = lift.pad(1, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %cc = lift.pad(1, 1, clamp) %c : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?xf32, #lift.sizes<N + 4>>
  %z = lift.pad_constant(1, 1) %x, %zero : (tensor<?xf32, #lift.sizes<N>>, f32) -> tensor<?xf32, #lift.sizes<N + 2>>
  %zz = lift.pad_constant(1, 1) %z, %again : (tensor<?xf32, #lift.sizes<N + 2>>, f32) -> tensor<?xf32, #lift.sizes<N + 4>>
  %pairs = lift.zip %cc, %zz : (tensor<?xf32, #lift.sizes<N + 4>>, tensor<?xf32, #lift.sizes<N + 4>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N + 4>>
  %both = lift.map_glb(0)(%pair in %pairs) : (tensor<?xtuple<f32, f32>, #lift.sizes<N + 4>>) -> tensor<?xf32, #lift.sizes<N + 4>> {
    %a = lift.get(0) %pair : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %pair : (tuple<f32, f32>) -> f32
    %s = arith.addf %a, %b : f32
    lift.yield %s : f32
  }
  func.return %both : tensor<?xf32, #lift.sizes<N + 4>>
}

// -----

// The elements beyond the ends of either axis are one number: one test, and no choice.
// CHECK:      // In framed_0_r
// CHECK:      nest.load %x[{{.*}}] if {{.*}} else %
// CHECK-NOT:  select
func.func @framed(%x: tensor<4x6xf32>) -> tensor<6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %rows = lift.map(%row in %x) : (tensor<4x6xf32>) -> tensor<4x8xf32> {
    %p = lift.pad_constant(1, 1) %row, %zero : (tensor<6xf32>, f32) -> tensor<8xf32>
    lift.yield %p : tensor<8xf32>
  }
  %all = lift.pad_constant(1, 1) %rows, %zero : (tensor<4x8xf32>, f32) -> tensor<6x8xf32>
  %r = lift.map_glb(0)(%row in %all) : (tensor<6x8xf32>) -> tensor<6x8xf32> {
    %s = lift.map_seq(%e in %row) : (tensor<8xf32>) -> tensor<8xf32> {
      %t = arith.addf %e, %e : f32
      lift.yield %t : f32
    }
    lift.yield %s : tensor<8xf32>
  }
  func.return %r : tensor<6x8xf32>
}

// -----

// A reduction of numbers of vectors that a map computes goes through the vectors, each computed once.
// CHECK:      // In dot_0_r
// CHECK:      nest.for %k : serial to 2 {
// CHECK-NEXT:   %[[L:.*]] = nest.buffer : memref<4xf32, 5 : i32>
// CHECK-NEXT:   nest.for %[[V:.*]] : vector to 4 {
// CHECK:          arith.mulf
// CHECK-NEXT:     nest.store %{{.*}}, %[[L]][%[[V]]]
// CHECK-NEXT:   }
// CHECK-NEXT:   nest.for %[[U:.*]] : unroll to 4 {
// CHECK:          nest.load %[[L]][%[[U]]]
// CHECK:          arith.addf
func.func @dot(%x: tensor<3x8xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %r = lift.map_glb(0)(%row in %x) : (tensor<3x8xf32>) -> tensor<3xf32> {
    %vectors = lift.as_vector(4) %row : (tensor<8xf32>) -> tensor<2xvector<4xf32>>
    %squares = lift.map(%v in %vectors) : (tensor<2xvector<4xf32>>) -> tensor<2xvector<4xf32>> {
      %s = arith.mulf %v, %v : vector<4xf32>
      lift.yield %s : vector<4xf32>
    }
    %numbers = lift.as_scalar %squares : (tensor<2xvector<4xf32>>) -> tensor<8xf32>
    %sum = lift.reduce_seq(%acc from %zero, %n in %numbers) : (f32, tensor<8xf32>) -> f32 {
      %t = arith.addf %acc, %n : f32
      lift.yield %t : f32
    }
    lift.yield %sum : f32
  }
  func.return %r : tensor<3xf32>
}
