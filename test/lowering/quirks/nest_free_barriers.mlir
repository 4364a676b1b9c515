// RUN: tile-opt %s -p nest-free-barriers --split-input-file | filecheck %s

// A branch becomes one for each part between its barriers, also where those stand in loops. A value
// that is used after a barrier is kept, an index is computed again or before the branch.
// CHECK:      nest.for %l : local.x to 4 {
// CHECK-NEXT:   nest.for %i : serial to 3 {
// CHECK-NEXT:     %j = nest.index %l + %i
// CHECK-NEXT:     %t = nest.buffer : memref<8xf32, 3 : i32>
// CHECK-NEXT:     %n = nest.buffer : memref<1xi32, 5 : i32>
// CHECK-NEXT:     %v = nest.buffer : memref<2xf32, 5 : i32>
// CHECK-NEXT:     nest.if 1 <= %i {
// CHECK-NEXT:       %v_1 = nest.load %A[2*%l] : memref<8xf32>, vector<2xf32>
// CHECK-NEXT:       nest.store %v_1, %v[0] : vector<2xf32>, memref<2xf32, 5 : i32>
// CHECK-NEXT:       %n_1 = nest.load %N[%l] : memref<4xi32>
// CHECK-NEXT:       nest.store %n_1, %n[0] : i32, memref<1xi32, 5 : i32>
// CHECK-NEXT:       %m = arith.index_cast %n_1 : i32 to index
// CHECK-NEXT:       nest.store %v_1, %A[%m] : vector<2xf32>, memref<8xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.for %k : serial to 5 {
// CHECK-NEXT:       "gpu.barrier"() : () -> ()
// CHECK-NEXT:       nest.if 1 <= %i {
// CHECK-NEXT:         %v_2 = nest.load %v[0] : memref<2xf32, 5 : i32>, vector<2xf32>
// CHECK-NEXT:         nest.store %v_2, %t[2*%l] : vector<2xf32>, memref<8xf32, 3 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:       "gpu.barrier"() : () -> ()
// CHECK-NEXT:       nest.if 1 <= %i {
// CHECK-NEXT:         %w = nest.load %t[%j] : memref<8xf32, 3 : i32>
// CHECK-NEXT:         %n_2 = nest.load %n[0] : memref<1xi32, 5 : i32>
// CHECK-NEXT:         %m_1 = arith.index_cast %n_2 : i32 to index
// CHECK-NEXT:         nest.store %w, %A[%k + %m_1] : f32, memref<8xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     %{{.*}} = arith.constant
// CHECK-NEXT:     nest.if %i < 1 {
// CHECK-NEXT:       nest.store %{{.*}}, %t[%l] : f32, memref<8xf32, 3 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:     nest.if %i < 1 {
// CHECK-NEXT:       %{{.*}} = nest.load %t[-%l + 3] : memref<8xf32, 3 : i32>
// CHECK-NEXT:       nest.store
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>, memref<4xi32>) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32>, %N: memref<4xi32>):
    nest.for %l : local.x to 4 {
      nest.for %i : serial to 3 {
        %j = nest.index %l + %i
        %t = nest.buffer : memref<8xf32, 3 : i32>
        nest.if 1 <= %i {
          %v = nest.load %A[2*%l] : memref<8xf32>, vector<2xf32>
          %n = nest.load %N[%l] : memref<4xi32>
          %m = arith.index_cast %n : i32 to index
          nest.store %v, %A[%m] : vector<2xf32>, memref<8xf32>
          nest.for %k : serial to 5 {
            "gpu.barrier"() : () -> ()
            nest.store %v, %t[2*%l] : vector<2xf32>, memref<8xf32, 3 : i32>
            "gpu.barrier"() : () -> ()
            %w = nest.load %t[%j] : memref<8xf32, 3 : i32>
            nest.store %w, %A[%k + %m] : f32, memref<8xf32>
          }
        } else {
          %z = arith.constant 0.0 : f32
          nest.store %z, %t[%l] : f32, memref<8xf32, 3 : i32>
          "gpu.barrier"() : () -> ()
          %w = nest.load %t[3 - %l] : memref<8xf32, 3 : i32>
          nest.store %w, %A[%l] : f32, memref<8xf32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Branches in one another; those without a barrier stay as they are.
// CHECK:      nest.for %g : group.x to 4 {
// CHECK-NEXT:   nest.if 1 <= %g {
// CHECK-NEXT:     nest.if %g < 3 {
// CHECK-NEXT:       nest.store
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   "gpu.barrier"() : () -> ()
// CHECK-NEXT:   nest.if 1 <= %g {
// CHECK-NEXT:     nest.if %g < 3 {
// CHECK-NEXT:       nest.store
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.if %g == 2 {
// CHECK-NEXT:       nest.store
// CHECK-NEXT:     } else {
// CHECK-NEXT:       nest.store
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>, f32) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32>, %x: f32):
    nest.for %g : group.x to 4 {
      nest.if 1 <= %g {
        nest.if %g < 3 {
          nest.store %x, %A[%g] : f32, memref<8xf32>
          "gpu.barrier"() : () -> ()
          nest.store %x, %A[%g + 1] : f32, memref<8xf32>
        }
        nest.if %g == 2 {
          nest.store %x, %A[0] : f32, memref<8xf32>
        } else {
          nest.store %x, %A[1] : f32, memref<8xf32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
