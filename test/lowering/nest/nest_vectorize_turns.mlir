// RUN: tile-opt %s -p nest-vectorize | filecheck %s

// Stores in turns under one condition are vectors under it; under two they stay as they are.
// CHECK:      %[[LOW:.*]] = vector.shuffle %a, %b [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK-NEXT: nest.store %[[LOW]], %B[48*%g] if %g < 2 : vector<8xf32>
// CHECK:      nest.store %{{.*}}, %B[48*%g + 8] if %g < 2 : vector<8xf32>
// CHECK-NOT:  vector.shuffle
// CHECK:      nest.store %{{.*}}, %C[48*%g] if %g < 2 : f32
// CHECK:      nest.store %{{.*}}, %C[48*%g + 1] if %g < 3 : f32
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<2x24xf32, 1 : i32>, memref<192xf32, 1 : i32>, memref<192xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<2x24xf32, 1 : i32>, %B: memref<192xf32, 1 : i32>, %C: memref<192xf32, 1 : i32>):
    nest.for %g : group.x to 4 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[0, %v] : memref<2x24xf32, 1 : i32>
        nest.store %a, %B[48*%g + 2*%v] if %g < 2 : f32, memref<192xf32, 1 : i32>
        %b = nest.load %A[1, %v] : memref<2x24xf32, 1 : i32>
        nest.store %b, %B[48*%g + 2*%v + 1] if %g < 2 : f32, memref<192xf32, 1 : i32>
      }
      nest.for %w : vector to 8 {
        %c = nest.load %A[0, %w] : memref<2x24xf32, 1 : i32>
        nest.store %c, %C[48*%g + 2*%w] if %g < 2 : f32, memref<192xf32, 1 : i32>
        %d = nest.load %A[1, %w] : memref<2x24xf32, 1 : i32>
        nest.store %d, %C[48*%g + 2*%w + 1] if %g < 3 : f32, memref<192xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// Loads that take all elements of rows in turns share whole vectors, also where the last row is first;
// two of three take their lanes one by one.
// CHECK:      sym_name = "loads"
// CHECK:      %[[X:.*]] = nest.load %A[8*%g, 0] : memref<64x3xf64, 1 : i32>, vector<8xf64>
// CHECK-NEXT: %[[Y:.*]] = nest.load %A[8*%g + 2, 2] : memref<64x3xf64, 1 : i32>, vector<8xf64>
// CHECK-NEXT: %[[Z:.*]] = nest.load %A[8*%g + 5, 1] : memref<64x3xf64, 1 : i32>, vector<8xf64>
// CHECK-NEXT: %[[XY:.*]] = vector.shuffle %[[X]], %[[Y]] [0, 3, 6, 9, 12, 15, 0, 0]
// CHECK-NEXT: vector.shuffle %[[XY]], %[[Z]] [0, 1, 2, 3, 4, 5, 10, 13]
// CHECK:      %[[U:.*]] = nest.load %A[-8*%g + 56, 0] : memref<64x3xf64, 1 : i32>, vector<8xf64>
// CHECK:      vector.shuffle %[[U]], %{{.*}} [0, 0, 15, 12, 9, 6, 3, 0]
// CHECK-NOT:  vector.insert
// CHECK:      sym_name = "g"
// CHECK:      vector.insert
"gpu.module"() <{sym_name = "loads"}> ({
  "gpu.func"() <{function_type = (memref<64x3xf64, 1 : i32>, memref<6x64xf64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64x3xf64, 1 : i32>, %B: memref<6x64xf64, 1 : i32>):
    nest.for %g : group.x to 8 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[8*%g + %v, 0] : memref<64x3xf64, 1 : i32>
        nest.store %a, %B[0, 8*%g + %v] : f64, memref<6x64xf64, 1 : i32>
        %b = nest.load %A[8*%g + %v, 1] : memref<64x3xf64, 1 : i32>
        nest.store %b, %B[1, 8*%g + %v] : f64, memref<6x64xf64, 1 : i32>
        %c = nest.load %A[8*%g + %v, 2] : memref<64x3xf64, 1 : i32>
        nest.store %c, %B[2, 8*%g + %v] : f64, memref<6x64xf64, 1 : i32>
      }
      nest.for %w : vector to 8 {
        %a = nest.load %A[-8*%g - %w + 63, 0] : memref<64x3xf64, 1 : i32>
        nest.store %a, %B[3, 8*%g + %w] : f64, memref<6x64xf64, 1 : i32>
        %b = nest.load %A[-8*%g - %w + 63, 1] : memref<64x3xf64, 1 : i32>
        nest.store %b, %B[4, 8*%g + %w] : f64, memref<6x64xf64, 1 : i32>
        %c = nest.load %A[-8*%g - %w + 63, 2] : memref<64x3xf64, 1 : i32>
        nest.store %c, %B[5, 8*%g + %w] : f64, memref<6x64xf64, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "g"} : () -> ()
  "gpu.func"() <{function_type = (memref<64x3xf64, 1 : i32>, memref<2x64xf64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64x3xf64, 1 : i32>, %B: memref<2x64xf64, 1 : i32>):
    nest.for %g : group.x to 8 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[8*%g + %v, 0] : memref<64x3xf64, 1 : i32>
        nest.store %a, %B[0, 8*%g + %v] : f64, memref<2x64xf64, 1 : i32>
        %b = nest.load %A[8*%g + %v, 1] : memref<64x3xf64, 1 : i32>
        nest.store %b, %B[1, 8*%g + %v] : f64, memref<2x64xf64, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "h"} : () -> ()
}) : () -> ()

// Two loads of the same elements share the vectors of both turns.
// CHECK:      sym_name = "again"
// CHECK:      %[[LOW:.*]] = nest.load %A[8*%g, 0] : memref<64x2xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: %[[HIGH:.*]] = nest.load %A[8*%g + 4, 0] : memref<64x2xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: %[[EVEN:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [0, 2, 4, 6, 8, 10, 12, 14]
// CHECK-NEXT: nest.store %[[EVEN]], %B[0, 8*%g]
// CHECK-NEXT: %[[ODD:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [1, 3, 5, 7, 9, 11, 13, 15]
// CHECK-NEXT: nest.store %[[ODD]], %B[1, 8*%g]
// CHECK-NEXT: %[[TWICE:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [1, 3, 5, 7, 9, 11, 13, 15]
// CHECK-NEXT: nest.store %[[TWICE]], %B[2, 8*%g]
"gpu.module"() <{sym_name = "again"}> ({
  "gpu.func"() <{function_type = (memref<64x2xf32, 1 : i32>, memref<3x64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64x2xf32, 1 : i32>, %B: memref<3x64xf32, 1 : i32>):
    nest.for %g : group.x to 8 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[8*%g + %v, 0] : memref<64x2xf32, 1 : i32>
        nest.store %a, %B[0, 8*%g + %v] : f32, memref<3x64xf32, 1 : i32>
        %b = nest.load %A[8*%g + %v, 1] : memref<64x2xf32, 1 : i32>
        nest.store %b, %B[1, 8*%g + %v] : f32, memref<3x64xf32, 1 : i32>
        %c = nest.load %A[8*%g + %v, 1] : memref<64x2xf32, 1 : i32>
        nest.store %c, %B[2, 8*%g + %v] : f32, memref<3x64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
