// RUN: tile-opt %s -p nest-vectorize --split-input-file | filecheck %s

// Neighbours are loaded and stored together; what is the same in all lanes stays a scalar.
// CHECK:      nest.for %i : local.x to 16 {
// CHECK-NEXT:   %a = nest.load %A[4*%i] : memref<64xf32, 1 : i32>, vector<4xf32>
// CHECK-NEXT:   %s = nest.load %A[%i] : memref<64xf32, 1 : i32>
// CHECK-NEXT:   %s_1 = vector.broadcast %s : f32 to vector<4xf32>
// CHECK-NEXT:   %m = arith.mulf %a, %s_1 : vector<4xf32>
// CHECK-NEXT:   nest.store %m, %B[4*%i] : vector<4xf32>, memref<64xf32, 1 : i32>
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %v : vector to 4 {
        %a = nest.load %A[4*%i + %v] : memref<64xf32, 1 : i32>
        %s = nest.load %A[%i] : memref<64xf32, 1 : i32>
        %m = arith.mulf %a, %s : f32
        nest.store %m, %B[4*%i + %v] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A branch that all lanes take, or none, is around their vectors.
// CHECK:      nest.for %i : local.x to 16 {
// CHECK-NEXT:   nest.if %i < 15 {
// CHECK-NEXT:     %a = nest.load %A[4*%i] : memref<64xf32, 1 : i32>, vector<4xf32>
// CHECK-NEXT:     nest.store %a, %B[4*%i] : vector<4xf32>, memref<64xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %v : vector to 4 {
        nest.if 4*%i + %v < 60 {
          %a = nest.load %A[4*%i + %v] : memref<64xf32, 1 : i32>
          nest.store %a, %B[4*%i + %v] : f32, memref<64xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A condition that all lanes share stays.
// CHECK:      nest.for %i : local.x to 16 {
// CHECK-NEXT:   %a = nest.load %A[4*%i] if %i < 15 : memref<64xf32, 1 : i32>, vector<4xf32>
// CHECK-NEXT:   nest.store %a, %B[4*%i] : vector<4xf32>, memref<64xf32, 1 : i32>
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %v : vector to 4 {
        %a = nest.load %A[4*%i + %v] if 4*%i + %v < 60 : memref<64xf32, 1 : i32>
        nest.store %a, %B[4*%i + %v] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// One that lanes do not share lets the loop be written out, and so do lengths that OpenCL has not.
// CHECK:      nest.for %i : local.x to 16 {
// CHECK-NEXT:   nest.for %v : unroll to 4 {
// CHECK-NEXT:     %a = nest.load %A[4*%i + %v] if 4*%i + %v < 62 : memref<64xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a, %B[4*%i + %v] : f32, memref<64xf32, 1 : i32>
// CHECK-NEXT:   } {not_vectorized = "the condition '4*i + v < 62' depends on the lane"}
// CHECK-NEXT:   nest.for %w : unroll to 5 {
// CHECK-NEXT:     %b = nest.load %A[%w] : memref<64xf32, 1 : i32>
// CHECK-NEXT:   } {not_vectorized = "OpenCL C has no vectors of 5"}
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %v : vector to 4 {
        %a = nest.load %A[4*%i + %v] if 4*%i + %v < 62 : memref<64xf32, 1 : i32>
        nest.store %a, %B[4*%i + %v] : f32, memref<64xf32, 1 : i32>
      }
      nest.for %w : vector to 5 {
        %b = nest.load %A[%w] : memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A place that the data says, the same in all lanes.
// CHECK-LABEL: @gathered
// CHECK: %[[POSITION:.*]] = arith.index_cast
// CHECK-NEXT: nest.load %W[%[[POSITION]], 0] : memref<8x4xf32>, vector<4xf32>
func.func @gathered(%W: memref<8x4xf32>, %I: memref<4xi32>, %O: memref<4xf32>) {
  nest.for %i : vector to 4 {
    %n = nest.load %I[0] : memref<4xi32>
    %position = arith.index_cast %n : i32 to index
    %v = nest.load %W[%position, %i] : memref<8x4xf32>
    nest.store %v, %O[%i] : f32, memref<4xf32>
  }
  func.return
}

// -----

// A buffer of the loop is one that all lanes share, or of which each has an element.
// CHECK:      nest.for %i : local.x to 16 {
// CHECK-NEXT:   %t = nest.buffer : memref<1xf32, 3 : i32>
// CHECK-NEXT:   %u = nest.buffer : memref<4xf32, 5 : i32>
// CHECK-NEXT:   %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
// CHECK-NEXT:   nest.store %a, %t[0] : f32, memref<1xf32, 3 : i32>
// CHECK-NEXT:   %b = nest.load %t[0] : memref<1xf32, 3 : i32>
// CHECK-NEXT:   %b_1 = vector.broadcast %b : f32 to vector<4xf32>
// CHECK-NEXT:   nest.store %b_1, %u[0] : vector<4xf32>, memref<4xf32, 5 : i32>
// CHECK-NEXT:   %c = nest.load %u[0] : memref<4xf32, 5 : i32>, vector<4xf32>
// CHECK-NEXT:   nest.store %c, %B[4*%i] : vector<4xf32>, memref<64xf32, 1 : i32>
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %v : vector to 4 {
        %t = nest.buffer : memref<1xf32, 3 : i32>
        %u = nest.buffer : memref<4xf32, 5 : i32>
        %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
        nest.store %a, %t[0] : f32, memref<1xf32, 3 : i32>
        %b = nest.load %t[0] : memref<1xf32, 3 : i32>
        nest.store %b, %u[%v] : f32, memref<4xf32, 5 : i32>
        %c = nest.load %u[%v] : memref<4xf32, 5 : i32>
        nest.store %c, %B[4*%i + %v] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Comparisons, choices and conversions are done lane by lane, and an index is a number in each.
// CHECK:      %a = nest.load %A[0] : memref<4xf32, 1 : i32>, vector<4xf32>
// CHECK:      %is_less = arith.cmpf olt, %a, %{{.*}} : vector<4xf32>
// CHECK:      %[[FIRST:.*]] = nest.index 3
// CHECK-NEXT: %[[NUMBER:.*]] = arith.index_cast %[[FIRST]] : index to i32
// CHECK-NEXT: %[[STEPS:.*]] = arith.constant dense<[0, 2, 4, 6]> : vector<4xi32>
// CHECK-NEXT: %[[WIDE:.*]] = vector.broadcast %[[NUMBER]] : i32 to vector<4xi32>
// CHECK-NEXT: %number = arith.addi %[[WIDE]], %[[STEPS]] : vector<4xi32>
// CHECK-NEXT: %cut = arith.fptosi %a : vector<4xf32> to vector<4xi32>
// CHECK-NEXT: %e = arith.select %is_less, %number, %cut : vector<4xi1>, vector<4xi32>
// CHECK-NEXT: nest.store %e, %B[0] : vector<4xi32>, memref<4xi32, 1 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4xf32, 1 : i32>, memref<4xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<4xf32, 1 : i32>, %B: memref<4xi32, 1 : i32>):
    nest.for %i : vector to 4 {
      %a = nest.load %A[%i] : memref<4xf32, 1 : i32>
      %zero = arith.constant 0.0 : f32
      %is_less = arith.cmpf olt, %a, %zero : f32
      %index = nest.index 2*%i + 3
      %number = arith.index_cast %index : index to i32
      %cut = arith.fptosi %a : f32 to i32
      %e = arith.select %is_less, %number, %cut : i32
      nest.store %e, %B[%i] : i32, memref<4xi32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Every other element of a row comes from two vectors: the even lanes of one, the odd ones of the next,
// which ends with the last element that is needed. In short vectors each lane is loaded by itself.
// CHECK:      %a = nest.load %A[48*%i + 1] : memref<256xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: %a_1 = nest.load %A[48*%i + 8] : memref<256xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: %0 = vector.shuffle %a, %a_1 [0, 2, 4, 6, 9, 11, 13, 15] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT: nest.store %0, %B[8*%i] : vector<8xf32>, memref<256xf32, 1 : i32>
// CHECK-NEXT: %b = nest.load %A[48*%i] : memref<256xf32, 1 : i32>
// CHECK-NEXT: %1 = vector.broadcast %b : f32 to vector<2xf32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<256xf32, 1 : i32>, memref<256xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<256xf32, 1 : i32>, %B: memref<256xf32, 1 : i32>):
    nest.for %i : group.x to 4 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[48*%i + 2*%v + 1] : memref<256xf32, 1 : i32>
        nest.store %a, %B[8*%i + %v] : f32, memref<256xf32, 1 : i32>
      }
      nest.for %w : vector to 2 {
        %b = nest.load %A[48*%i + 2*%w] : memref<256xf32, 1 : i32>
        nest.store %b, %B[8*%i + %w + 64] : f32, memref<256xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Every third and fourth element, up to half as many as there are lanes, comes from as many vectors, of which the
// last one ends with the last element that is needed; what is farther apart, and integers, are loaded lane by lane.
// CHECK:      sym_name = "apart"
// CHECK:      %a = nest.load %A[32*%i + 1] : memref<256xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: %a_1 = nest.load %A[32*%i + 9] : memref<256xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: %a_2 = nest.load %A[32*%i + 15] : memref<256xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: %[[AB:.*]] = vector.shuffle %a, %a_1 [0, 3, 6, 9, 12, 15, 0, 0]
// CHECK-NEXT: vector.shuffle %[[AB]], %a_2 [0, 1, 2, 3, 4, 5, 12, 15]
// CHECK:      %b = nest.load %A[32*%i] : memref<256xf32, 1 : i32>, vector<8xf32>
// CHECK-NEXT: nest.load %A[32*%i + 8]
// CHECK-NEXT: nest.load %A[32*%i + 16]
// CHECK-NEXT: nest.load %A[32*%i + 21]
// CHECK:      vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 4, 5, 11, 15]
// CHECK-NOT:  vector.shuffle
// CHECK:      %c = nest.load %A[32*%i] : memref<256xf32, 1 : i32>
// CHECK-NEXT: vector.broadcast %c
// CHECK:      %d = nest.load %N[32*%i] : memref<256xi32, 1 : i32>
// CHECK-NEXT: vector.broadcast %d
"gpu.module"() <{sym_name = "apart"}> ({
  "gpu.func"() <{function_type = (memref<256xf32, 1 : i32>, memref<256xi32, 1 : i32>, memref<96xf32, 1 : i32>, memref<32xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<256xf32, 1 : i32>, %N: memref<256xi32, 1 : i32>, %B: memref<96xf32, 1 : i32>, %M: memref<32xi32, 1 : i32>):
    nest.for %i : group.x to 4 {
      nest.for %v : vector to 8 {
        %a = nest.load %A[32*%i + 3*%v + 1] : memref<256xf32, 1 : i32>
        nest.store %a, %B[8*%i + %v] : f32, memref<96xf32, 1 : i32>
      }
      nest.for %v : vector to 8 {
        %b = nest.load %A[32*%i + 4*%v] : memref<256xf32, 1 : i32>
        nest.store %b, %B[8*%i + %v + 32] : f32, memref<96xf32, 1 : i32>
      }
      nest.for %v : vector to 8 {
        %c = nest.load %A[32*%i + 5*%v] : memref<256xf32, 1 : i32>
        nest.store %c, %B[8*%i + %v + 64] : f32, memref<96xf32, 1 : i32>
      }
      nest.for %v : vector to 8 {
        %d = nest.load %N[32*%i + 3*%v] : memref<256xi32, 1 : i32>
        nest.store %d, %M[8*%i + %v] : i32, memref<32xi32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
