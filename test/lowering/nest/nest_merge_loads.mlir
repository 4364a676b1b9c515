// RUN: tile-opt %s -p nest-merge-loads --split-input-file | filecheck %s

// The coordinates of a point are a vector; what is written between loads keeps them apart.
// CHECK:      nest.for %i : local.x to 32 {
// CHECK-NEXT:   %A_1 = nest.load %A[4*%i] : memref<128xf32, 1 : i32>, vector<4xf32>
// CHECK-NEXT:   %a = vector.extract %A_1[0] : f32 from vector<4xf32>
// CHECK-NEXT:   %b = vector.extract %A_1[3] : f32 from vector<4xf32>
// CHECK-NEXT:   %0 = arith.addf %a, %b : f32
// CHECK-NEXT:   nest.store %0, %B[%i]
// CHECK-NEXT:   %c = vector.extract %A_1[1] : f32 from vector<4xf32>
// CHECK-NEXT:   nest.store %c, %T[2*%i]
// CHECK-NEXT:   %T_1 = nest.load %T[2*%i] : memref<64xf32, 3 : i32>, vector<2xf32>
// CHECK-NEXT:   %d = vector.extract %T_1[0] : f32 from vector<2xf32>
// CHECK-NEXT:   %e = vector.extract %T_1[1] : f32 from vector<2xf32>
// CHECK-NEXT:   %1 = arith.addf %d, %e : f32
// CHECK-NEXT:   nest.store %1, %T[2*%i + 1]
// CHECK-NEXT:   %f = nest.load %T[2*%i + 1] : memref<64xf32, 3 : i32>
// CHECK-NEXT:   nest.store %f, %B[%i]
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<128xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<128xf32, 1 : i32>, %B: memref<32xf32, 1 : i32>):
    %T = nest.buffer : memref<64xf32, 3 : i32>
    nest.for %i : local.x to 32 {
      %a = nest.load %A[4*%i] : memref<128xf32, 1 : i32>
      %b = nest.load %A[4*%i + 3] : memref<128xf32, 1 : i32>
      %0 = arith.addf %a, %b : f32
      nest.store %0, %B[%i] : f32, memref<32xf32, 1 : i32>
      %c = nest.load %A[4*%i + 1] : memref<128xf32, 1 : i32>
      nest.store %c, %T[2*%i] : f32, memref<64xf32, 3 : i32>
      %d = nest.load %T[2*%i] : memref<64xf32, 3 : i32>
      %e = nest.load %T[2*%i + 1] : memref<64xf32, 3 : i32>
      %1 = arith.addf %d, %e : f32
      nest.store %1, %T[2*%i + 1] : f32, memref<64xf32, 3 : i32>
      %f = nest.load %T[2*%i + 1] : memref<64xf32, 3 : i32>
      nest.store %f, %B[%i] : f32, memref<32xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Left as they are: places that begin no vector, conditions, private memory, lanes, a memory whose
// last elements fill no vector, and a part of a vector of what is written.
// CHECK-NOT: vector.extract
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<99xf32, 1 : i32>, memref<97xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<99xf32, 1 : i32>, %O: memref<97xf32, 1 : i32>, %B: memref<32xf32, 1 : i32>):
    %P = nest.buffer : memref<4xf32, 5 : i32>
    nest.for %i : local.x to 32 {
      %a = nest.load %A[3*%i] : memref<99xf32, 1 : i32>
      %b = nest.load %A[3*%i + 1] : memref<99xf32, 1 : i32>
      %o = nest.load %O[2*%i] : memref<97xf32, 1 : i32>
      %p = nest.load %O[2*%i + 1] : memref<97xf32, 1 : i32>
      %c = nest.load %B[2*%i] if %i < 2 : memref<32xf32, 1 : i32>
      %d = nest.load %B[2*%i + 1] if %i < 2 : memref<32xf32, 1 : i32>
      nest.store %a, %P[0] : f32, memref<4xf32, 5 : i32>
      nest.store %b, %P[1] : f32, memref<4xf32, 5 : i32>
      %e = nest.load %P[0] : memref<4xf32, 5 : i32>
      %f = nest.load %P[1] : memref<4xf32, 5 : i32>
      %0 = arith.addf %e, %f : f32
      %1 = arith.addf %c, %d : f32
      %2 = arith.addf %0, %1 : f32
      %3 = arith.addf %o, %p : f32
      %4 = arith.addf %2, %3 : f32
      nest.store %4, %B[%i] : f32, memref<32xf32, 1 : i32>
      %q = nest.load %B[4] : memref<32xf32, 1 : i32>
      %r = nest.load %B[7] : memref<32xf32, 1 : i32>
      %6 = arith.addf %q, %r : f32
      nest.store %6, %B[%i] : f32, memref<32xf32, 1 : i32>
      nest.for %v : vector to 2 {
        %g = nest.load %B[2*%v] : memref<32xf32, 1 : i32>
        %h = nest.load %B[2*%v + 1] : memref<32xf32, 1 : i32>
        %5 = arith.addf %g, %h : f32
        nest.store %5, %B[%v] : f32, memref<32xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What the steps of an unrolled loop take of local memory is loaded before it, but for what they
// write, and for what begins no vector.
// CHECK:      nest.for %k : serial to 4 {
// CHECK:        %T_1 = nest.buffer : memref<8xf32, 5 : i32>
// CHECK-NEXT:   %T_2 = nest.load %T[8*%k] : memref<32xf32, 3 : i32>, vector<4xf32>
// CHECK-NEXT:   nest.store %T_2, %T_1[0] : vector<4xf32>, memref<8xf32, 5 : i32>
// CHECK-NEXT:   %T_3 = nest.load %T[8*%k + 4] : memref<32xf32, 3 : i32>, vector<4xf32>
// CHECK-NEXT:   nest.store %T_3, %T_1[4] : vector<4xf32>, memref<8xf32, 5 : i32>
// CHECK-NEXT:   nest.for %u : unroll to 8 {
// CHECK-NEXT:     nest.for %v : unroll to 2 {
// CHECK-NEXT:       %a = nest.load %T_1[%u] : memref<8xf32, 5 : i32>
// CHECK-NEXT:       %b = nest.load %W[8*%k + %u] : memref<32xf32, 3 : i32>
// CHECK-NEXT:       %c = nest.load %T[8*%k + %u + %v] : memref<32xf32, 3 : i32>
// CHECK-NEXT:       nest.if %u < %k {
// CHECK-NEXT:         %d = nest.load %T[%u] : memref<32xf32, 3 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%B: memref<32xf32, 1 : i32>):
    %T = nest.buffer : memref<32xf32, 3 : i32>
    %W = nest.buffer : memref<32xf32, 3 : i32>
    nest.for %i : local.x to 32 {
      %x = nest.load %B[%i] : memref<32xf32, 1 : i32>
      nest.store %x, %T[%i] : f32, memref<32xf32, 3 : i32>
      nest.store %x, %W[%i] : f32, memref<32xf32, 3 : i32>
      nest.for %k : serial to 4 {
        nest.for %u : unroll to 8 {
          nest.for %v : unroll to 2 {
            %a = nest.load %T[8*%k + %u] : memref<32xf32, 3 : i32>
            %b = nest.load %W[8*%k + %u] : memref<32xf32, 3 : i32>
            %c = nest.load %T[8*%k + %u + %v] : memref<32xf32, 3 : i32>
            nest.if %u < %k {
              %d = nest.load %T[%u] : memref<32xf32, 3 : i32>
              nest.store %d, %B[%u] : f32, memref<32xf32, 1 : i32>
            }
            %0 = arith.addf %a, %b : f32
            %1 = arith.addf %0, %c : f32
            nest.store %1, %W[8*%k + %u] : f32, memref<32xf32, 3 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Loops that do not count from 0 by 1 stay as they are, and those in the lanes of vectors.
// CHECK:      nest.for %k : serial to 4 {
// CHECK-NEXT:   nest.for %u = 4 to 8 : unroll {
// CHECK-NEXT:     nest.load %T[4*%k + %u]
// CHECK:        nest.for %w : vector to 4 {
// CHECK-NEXT:     nest.for %u_1 : unroll to 4 {
// CHECK-NEXT:       nest.load %T[4*%w + %u_1]
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%B: memref<32xf32, 1 : i32>):
    %T = nest.buffer : memref<32xf32, 3 : i32>
    nest.for %i : local.x to 32 {
      %x = nest.load %B[%i] : memref<32xf32, 1 : i32>
      nest.store %x, %T[%i] : f32, memref<32xf32, 3 : i32>
      nest.for %k : serial to 4 {
        nest.for %u = 4 to 8 : unroll {
          %a = nest.load %T[4*%k + %u] : memref<32xf32, 3 : i32>
          nest.store %a, %B[8*%k + %u] : f32, memref<32xf32, 1 : i32>
        }
        nest.for %w : vector to 4 {
          nest.for %u : unroll to 4 {
            %b = nest.load %T[4*%w + %u] : memref<32xf32, 3 : i32>
            nest.store %b, %B[4*%u + %w] : f32, memref<32xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
