// RUN: tile-opt %s -p nest-bound-loops | filecheck %s
// RUN: tile-opt %s -p 'nest-bound-loops{numbers}' | filecheck %s --check-prefix=NUMBERS

// A loop ends where the branch that is all of its steps would be left out: at a number, or what outer
// loops say. What depends on the work-item is tested, and so is what has another arm.
// CHECK:      nest.for %g : group.x to 8 {
// CHECK-NEXT:   nest.for %l : local.x to 4 {
// CHECK-NEXT:     nest.for %i : serial to 7 {
// CHECK-NEXT:       nest.for %j : serial to min(-8*%g + 61, 8) {
// CHECK-NEXT:         nest.store
// CHECK:          nest.for %k : serial to 8 {
// CHECK-NEXT:       nest.if 8*%l + %k < 30 {
// CHECK:          nest.for %m : serial to 3 {
// CHECK-NEXT:       nest.if 2 <= %m {
// CHECK:          nest.for %n : serial to 8 {
// CHECK-NEXT:       nest.if %n < 7 {
// CHECK:          } else {
// NUMBERS:     nest.for %i : serial to 7 {
// NUMBERS-NEXT:  nest.for %j : serial to 8 {
// NUMBERS-NEXT:    nest.if 8*%g + %j < 61 {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8x64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<8x64xf32, 1 : i32>):
    %v = arith.constant 1.0 : f32
    nest.for %g : group.x to 8 {
      nest.for %l : local.x to 4 {
        nest.for %i : serial to 8 {
          nest.if %i < 7 {
            nest.for %j : serial to 8 {
              nest.if 8*%g + %j < 61 {
                nest.store %v, %A[%i, 8*%g + %j] : f32, memref<8x64xf32, 1 : i32>
              }
            }
          }
        }
        nest.for %k : serial to 8 {
          nest.if 8*%l + %k < 30 {
            nest.store %v, %A[0, 8*%l + %k] : f32, memref<8x64xf32, 1 : i32>
          }
        }
        nest.for %m : serial to 8 {
          nest.if 2*%m < 5 and 2 <= %m {
            nest.store %v, %A[0, %m] : f32, memref<8x64xf32, 1 : i32>
          }
        }
        nest.for %n : serial to 8 {
          nest.if %n < 7 {
            nest.store %v, %A[0, %n] : f32, memref<8x64xf32, 1 : i32>
          } else {
            nest.store %v, %A[1, %n] : f32, memref<8x64xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
