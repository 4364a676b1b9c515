// RUN: tile-opt %s -p nest-split-tiles --split-input-file | filecheck %s

// Columns of a triangle: rows below the tile take all of it, rows beside it vectors that are whole, and one in which
// a test tells lanes apart.
// CHECK-LABEL: nest.for %t : group.x to 8
// CHECK:       nest.for %i : serial to 128 {
// CHECK-NEXT:    nest.if 16*%t + 14 < %i {
// CHECK-NEXT:      nest.for [[K:%[a-z_0-9]+]] : unroll to 4 {
// CHECK-NEXT:        nest.for [[V:%[a-z_0-9]+]] : vector to 4 {
// CHECK-NEXT:          nest.load %A[%i, 16*%t + 4*[[K]] + [[V]]]
// CHECK:         } else {
// CHECK-NEXT:      nest.if 16*%t <= %i {
// CHECK-NEXT:        nest.for [[K:%[a-z_0-9]+]] : unroll to 4 {
// CHECK-NEXT:          nest.if 16*%t + 4*[[K]] + 2 < %i {
// CHECK-NEXT:            nest.for [[V:%[a-z_0-9]+]] : vector to 4 {
// CHECK-NEXT:              nest.load %A[%i, 16*%t + 4*[[K]] + [[V]]]
// CHECK:               } else {
// CHECK-NEXT:            nest.if 16*%t + 4*[[K]] <= %i {
// CHECK-NEXT:              nest.for [[V:%[a-z_0-9]+]] : vector to 4 {
// CHECK-NEXT:                nest.if 16*%t + 4*[[K]] + [[V]] <= %i {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<128x128xf32, 1 : i32>, memref<128xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<128x128xf32, 1 : i32>, %B: memref<128xf32, 1 : i32>):
    nest.for %t : group.x to 8 {
      %acc = nest.buffer : memref<4x4xf32, 5 : i32>
      nest.for %i : serial to 128 {
        nest.for %k : unroll to 4 {
          nest.for %v : vector to 4 {
            nest.if 16*%t + 4*%k + %v <= %i {
              %a = nest.load %A[%i, 16*%t + 4*%k + %v] : memref<128x128xf32, 1 : i32>
              nest.store %a, %acc[%k, %v] : f32, memref<4x4xf32, 5 : i32>
            }
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "triangle"} : () -> ()
}) : () -> ()

// -----

// A band: both tests hold, or one of them holds nowhere. What no loop decides stays where it is.
// CHECK-LABEL: nest.for %t : group.x to 33
// CHECK:       nest.for %i : serial to 128 {
// CHECK-NEXT:    nest.if 4*%t + 2 < %i and
// CHECK-NEXT:      nest.for [[V:%[a-z_0-9]+]] : vector to 4 {
// CHECK-NEXT:        nest.if 4*%t + [[V]] < 129 {
// CHECK:         } else {
// CHECK-NEXT:      nest.if 4*%t <= %i and %i <= 4*%t + 53 {
// CHECK-NEXT:        nest.for [[V:%[a-z_0-9]+]] : vector to 4 {
// CHECK-NEXT:          nest.if {{.*}} and {{.*}} and
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<128x129xf32, 1 : i32>, memref<128xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<128x129xf32, 1 : i32>, %B: memref<128xf32, 1 : i32>):
    nest.for %t : group.x to 33 {
      %acc = nest.buffer : memref<4xf32, 5 : i32>
      nest.for %i : serial to 128 {
        nest.for %v : vector to 4 {
          nest.if 4*%t + %v <= %i and %i < 4*%t + %v + 51 and 4*%t + %v < 129 {
            %a = nest.load %A[%i, 4*%t + %v] : memref<128x129xf32, 1 : i32>
            nest.store %a, %acc[%v] : f32, memref<4xf32, 5 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "band"} : () -> ()
}) : () -> ()

// -----

// Of a tile as large as the loop little is whole; tests of no loop, or that lanes agree on, are not split.
// CHECK-LABEL: nest.for %t : group.x to 8
// CHECK:       nest.for %i : serial to 20 {
// CHECK-NEXT:    nest.for %v : vector to 16 {
// CHECK-NEXT:      nest.if %v <= %i {
// CHECK:       nest.for %j : serial to 20 {
// CHECK-NEXT:    nest.for %w : vector to 16 {
// CHECK-NEXT:      nest.if 16*%t + %w < 120 {
// CHECK:         nest.for %x : vector to 16 {
// CHECK-NEXT:      nest.if %t <= %j {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<20x128xf32, 1 : i32>, memref<128xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<20x128xf32, 1 : i32>, %B: memref<128xf32, 1 : i32>):
    nest.for %t : group.x to 8 {
      %acc = nest.buffer : memref<16xf32, 5 : i32>
      nest.for %i : serial to 20 {
        nest.for %v : vector to 16 {
          nest.if %v <= %i {
            %a = nest.load %A[%i, 16*%t + %v] : memref<20x128xf32, 1 : i32>
            nest.store %a, %acc[%v] : f32, memref<16xf32, 5 : i32>
          }
        }
      }
      nest.for %j : serial to 20 {
        nest.for %w : vector to 16 {
          nest.if 16*%t + %w < 120 {
            %b = nest.load %A[%j, 16*%t + %w] : memref<20x128xf32, 1 : i32>
            nest.store %b, %acc[%w] : f32, memref<16xf32, 5 : i32>
          }
        }
        nest.for %x : vector to 16 {
          nest.if %t <= %j {
            %c = nest.load %A[%j, 16*%t + %x] : memref<20x128xf32, 1 : i32>
            nest.store %c, %acc[%x] : f32, memref<16xf32, 5 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "whole"} : () -> ()
}) : () -> ()
