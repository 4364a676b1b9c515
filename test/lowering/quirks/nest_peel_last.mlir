// RUN: tile-opt %s -p nest-peel-last | filecheck %s

// The last iteration, and one before it that another test tells apart, are a loop of their own.
// CHECK:      nest.for %i : serial to 62 {
// CHECK:        %v = nest.load %A[%i + 1] if %i < 63 : memref<64xf32>
// CHECK:        nest.if %i < 62 {
// CHECK:      nest.for %i_1 = 62 to 64 : serial {
// CHECK:        %v_1 = nest.load %A[%i_1 + 1] if %i_1 < 63 : memref<64xf32>
// Steps count, not values of the index.
// CHECK:      nest.for %s = 1 to 151 step 3 : serial {
// CHECK:      nest.for %s_1 = 151 to 152 step 3 : serial {
// Unrolled loops have tests for each of their iterations.
// CHECK:      nest.for %u : serial to 62 {
// CHECK:      nest.for %u_1 = 62 to 64 : serial {
// A test without this end, a loop of up to 32 iterations, one of vectors, and one around another stay.
// CHECK:      nest.for %far : serial to 64 {
// CHECK:        if %far < 60
// CHECK:      nest.for %short : serial to 32 {
// CHECK:        if %short < 31
// CHECK:      nest.for %rows : serial to 64 {
// CHECK:        if %rows < 63
// CHECK:      nest.for %outer : serial to 64 {
// CHECK:        if %outer < 63
// CHECK:      "gpu.return"
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32>, memref<152xf32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32>, %B: memref<152xf32>):
    nest.for %i : serial to 64 {
      %z = arith.constant 0.0 : f32
      %v = nest.load %A[%i + 1] if %i < 63 : memref<64xf32>
      %w = nest.load %A[%i] if %i < 4 : memref<64xf32>
      nest.if %i < 62 {
        nest.store %w, %A[%i + 2] : f32, memref<64xf32>
      }
      nest.store %v, %A[%i] if 1 <= %i : f32, memref<64xf32>
    }
    nest.for %s = 1 to 152 step 3 : serial {
      %v = nest.load %B[%s + 2] if %s < 149 : memref<152xf32>
      nest.store %v, %B[%s] : f32, memref<152xf32>
    }
    nest.for %u : serial to 64 {
      nest.for %j : unroll to 3 {
        %v = nest.load %A[%j + %u] if %j + %u < 64 : memref<64xf32>
        nest.store %v, %A[%u] : f32, memref<64xf32>
      }
    }
    nest.for %far : serial to 64 {
      %v = nest.load %A[%far + 4] if %far < 60 : memref<64xf32>
      nest.store %v, %A[%far] : f32, memref<64xf32>
    }
    nest.for %short : serial to 32 {
      %v = nest.load %A[%short + 33] if %short < 31 : memref<64xf32>
      nest.store %v, %A[%short] : f32, memref<64xf32>
    }
    nest.for %rows : serial to 64 {
      %v = nest.load %B[2*%rows + 26] if %rows < 63 : memref<152xf32>, vector<2xf32>
      nest.store %v, %B[2*%rows] : vector<2xf32>, memref<152xf32>
    }
    nest.for %outer : serial to 64 {
      nest.for %k : serial to 8 {
        %v = nest.load %A[%outer + 1] if %outer < 63 : memref<64xf32>
        nest.store %v, %A[%outer] : f32, memref<64xf32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "k"} : () -> ()
}) : () -> ()
