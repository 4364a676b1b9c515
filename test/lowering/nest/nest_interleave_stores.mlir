// RUN: tile-opt %s -p nest-interleave-stores --split-input-file | filecheck %s
// RUN: tile-opt %s -p nest-interleave-stores,nest-halve-vectors,nest-vectorize --split-input-file \
// RUN:   | filecheck %s --check-prefix=VECTORS

// Lanes two elements apart, and the turn that lies between them: whole vectors are stored.
// CHECK:      nest.for %c : unroll to 3 {
// CHECK-NEXT:   nest.for %v : vector to 8 {
// CHECK-NEXT:     %a = nest.load %A[0, 8*%c + %v] : memref<2x24xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a, %B[48*%g + 16*%c + 2*%v] : f32, memref<192xf32, 1 : i32>
// CHECK-NEXT:     %a_1 = nest.load %A[1, 8*%c + %v] : memref<2x24xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a_1, %B[48*%g + 16*%c + 2*%v + 1] : f32, memref<192xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// VECTORS:      %a = nest.load %A[0, 8*%c] : memref<2x24xf32, 1 : i32>, vector<8xf32>
// VECTORS-NEXT: %a_1 = nest.load %A[1, 8*%c] : memref<2x24xf32, 1 : i32>, vector<8xf32>
// VECTORS-NEXT: %[[LOW:.*]] = vector.shuffle %a, %a_1 [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf32>, vector<8xf32>
// VECTORS-NEXT: nest.store %[[LOW]], %B[48*%g + 16*%c] : vector<8xf32>, memref<192xf32, 1 : i32>
// VECTORS-NEXT: %[[HIGH:.*]] = vector.shuffle %a, %a_1 [4, 12, 5, 13, 6, 14, 7, 15] : vector<8xf32>, vector<8xf32>
// VECTORS-NEXT: nest.store %[[HIGH]], %B[48*%g + 16*%c + 8] : vector<8xf32>, memref<192xf32, 1 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<2x24xf32, 1 : i32>, memref<192xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<2x24xf32, 1 : i32>, %B: memref<192xf32, 1 : i32>):
    nest.for %g : group.x to 4 {
      nest.for %t : unroll to 2 {
        nest.for %c : unroll to 3 {
          nest.for %v : vector to 8 {
            %a = nest.load %A[%t, 8*%c + %v] : memref<2x24xf32, 1 : i32>
            nest.store %a, %B[48*%g + 16*%c + 2*%v + %t] : f32, memref<192xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What is only put into registers is loaded in turns, here the last row first.
// CHECK:      nest.for %v : vector to 8 {
// CHECK-NEXT:   %a = nest.load %A[-%v + 7, 0] : memref<8x3xf32, 1 : i32>
// CHECK:        nest.store %a, %r[0, %v] : f32, memref<3x8xf32, 5 : i32>
// CHECK-NEXT:   %a_1 = nest.load %A[-%v + 7, 1] : memref<8x3xf32, 1 : i32>
// CHECK:      nest.for %t : unroll to 3 {
// CHECK-NEXT:   nest.for %w : vector to 8 {
// CHECK-NEXT:     nest.load %r[%t, %w]
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8x3xf32, 1 : i32>, memref<3x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<8x3xf32, 1 : i32>, %B: memref<3x8xf32, 1 : i32>):
    %r = nest.buffer : memref<3x8xf32, 5 : i32>
    nest.for %t : unroll to 3 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[-%v + 7, %t] : memref<8x3xf32, 1 : i32>
        %b = nest.load %r[%t, %v] : memref<3x8xf32, 5 : i32>
        nest.store %a, %r[%t, %v] : f32, memref<3x8xf32, 5 : i32>
      }
    }
    nest.for %t : unroll to 3 {
      nest.for %w : vector to 8 {
        %c = nest.load %r[%t, %w] : memref<3x8xf32, 5 : i32>
        nest.store %c, %B[%t, %w] : f32, memref<3x8xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Three turns, and branches that do not depend on them, also of lanes: these are halved afterwards.
// CHECK:      nest.if %g < 3 {
// CHECK-NEXT:   nest.for %v : vector to 8 {
// CHECK-NEXT:     nest.if 8*%g + %v < 20 {
// CHECK-COUNT-3:    nest.store
// CHECK-NOT:        nest.store
// VECTORS:      nest.if %g < 2 {
// VECTORS:        %[[TWO:.*]] = vector.shuffle %a, %a_1 [0, 8, 0, 1, 9, 1, 2, 10] : vector<8xf32>, vector<8xf32>
// VECTORS-NEXT:   %[[FIRST:.*]] = vector.shuffle %[[TWO]], %a_2 [0, 1, 8, 3, 4, 9, 6, 7] : vector<8xf32>, vector<8xf32>
// VECTORS-NEXT:   nest.store %[[FIRST]], %B[24*%g] : vector<8xf32>, memref<60xf32, 1 : i32>
// VECTORS:        nest.store %{{.*}}, %B[24*%g + 16] : vector<8xf32>, memref<60xf32, 1 : i32>
// VECTORS:      } else {
// VECTORS:        nest.store %{{.*}}, %B[24*%g + 8] : vector<4xf32>, memref<60xf32, 1 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<3x24xf32, 1 : i32>, memref<60xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<3x24xf32, 1 : i32>, %B: memref<60xf32, 1 : i32>):
    nest.for %g : group.x to 4 {
      nest.for %t : unroll to 3 {
        nest.if %g < 3 {
          nest.for %v : vector to 8 {
            nest.if 8*%g + %v < 20 {
              %a = nest.load %A[%t, 8*%g + %v] : memref<3x24xf32, 1 : i32>
              nest.store %a, %B[24*%g + 3*%v + %t] : f32, memref<60xf32, 1 : i32>
            }
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// An odd number of elements, of which the turns have not as many: halves of lanes tell which are there.
// CHECK:      nest.for %v : vector to 8 {
// CHECK-NEXT:   nest.if 8*%c + %v < 14 {
// CHECK-NEXT:     %a = nest.load %A[0, 8*%c + %v]
// CHECK-NEXT:     nest.store %a, %B[32*%g + 16*%c + 2*%v]
// CHECK-NEXT:   }
// CHECK-NEXT:   nest.if 8*%c + %v < 13 {
// CHECK-NEXT:     %a_1 = nest.load %A[1, 8*%c + %v]
// CHECK-NEXT:     nest.store %a_1, %B[32*%g + 16*%c + 2*%v + 1]
// VECTORS:      nest.store %{{.*}}, %B[32*%g + 16*%c] : vector<8xf32>
// VECTORS:      nest.store %{{.*}}, %B[32*%g + 16*%c + 8] : vector<8xf32>
// VECTORS:      nest.store %{{.*}}, %B[32*%g + 16*%c] : vector<4xf32>
// VECTORS:      nest.store %{{.*}}, %B[32*%g + 16*%c + 4] : vector<4xf32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<2x24xf32, 1 : i32>, memref<123xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<2x24xf32, 1 : i32>, %B: memref<123xf32, 1 : i32>):
    nest.for %g : group.x to 4 {
      nest.for %t : unroll to 2 {
        nest.for %c : unroll to 2 {
          nest.for %v : vector to 8 {
            nest.if 16*%c + 2*%v + %t < 27 {
              %a = nest.load %A[%t, 8*%c + %v] : memref<2x24xf32, 1 : i32>
              nest.store %a, %B[32*%g + 16*%c + 2*%v + %t] : f32, memref<123xf32, 1 : i32>
            }
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// As they are: turns that leave gaps, that are tested, or that are read where another one is stored.
// CHECK:      nest.for %t : unroll to 2 {
// CHECK-NEXT:   nest.for %v : vector to 8 {
// CHECK:      nest.for %s : unroll to 2 {
// CHECK-NEXT:   nest.if %g + %s < 4 {
// CHECK:      nest.for %r : unroll to 2 {
// CHECK-NEXT:   nest.for %u : vector to 8 {
// VECTORS:     nest.for %t : unroll to 2 {
// VECTORS-NOT: vector.shuffle
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<2x24xf32, 1 : i32>, memref<192xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<2x24xf32, 1 : i32>, %B: memref<192xf32, 1 : i32>):
    nest.for %g : group.x to 4 {
      nest.for %t : unroll to 2 {
        nest.for %v : vector to 8 {
          %a = nest.load %A[%t, %v] : memref<2x24xf32, 1 : i32>
          nest.store %a, %B[48*%g + 3*%v + %t] : f32, memref<192xf32, 1 : i32>
        }
      }
      nest.for %s : unroll to 2 {
        nest.if %g + %s < 4 {
          nest.for %w : vector to 8 {
            %b = nest.load %A[%s, %w] : memref<2x24xf32, 1 : i32>
            nest.store %b, %B[48*%g + 2*%w + %s] : f32, memref<192xf32, 1 : i32>
          }
        }
      }
      nest.for %r : unroll to 2 {
        nest.for %u : vector to 8 {
          %c = nest.load %B[%r + 2*%u] : memref<192xf32, 1 : i32>
          nest.store %c, %B[48*%g + 2*%u + %r] : f32, memref<192xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
