// RUN: tile-opt %s -p nest-stream-stores | filecheck %s
// RUN: tile-opt %s -p nest-stream-stores,nest-prefetch,nest-to-gpu -t opencl | filecheck %s --check-prefix=OPENCL

builtin.module attributes {gpu.container_module, dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"type" = "cpu", "cache_sizes" = [1024, 2048, 4096]>>} {
  "gpu.module"() <{sym_name = "m"}> ({
    // What the host function returns is written past the caches; what another kernel reads is not.
    // CHECK-LABEL: sym_name = "m"
    // CHECK:       nest.store %{{.*}}, %R[16*%i] {nontemporal} : vector<16xf32>
    // CHECK:       nest.store %{{.*}}, %T[16*%i] : vector<16xf32>
    // CHECK:       sym_name = "copies"
    // OPENCL:      static inline void stream_float16(float16 value, __global float *p)
    // OPENCL:      #ifdef __clang__
    // OPENCL:      if (((size_t)p & (sizeof(float16) - 1)) == 0) {
    // OPENCL-NEXT:   __builtin_nontemporal_store(value, (__global float16 *)p);
    // OPENCL:      vstore16(value, 0, p);
    // OPENCL-LABEL: void copies
    // OPENCL:      stream_float16(x, R + v);
    // OPENCL-NEXT: vstore16(x, 0, T + v);
    "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%X: memref<1024xf32, 1 : i32>, %R: memref<1024xf32, 1 : i32>, %T: memref<1024xf32, 1 : i32>):
      nest.for %i : serial to 64 {
        %x = nest.load %X[16*%i] : memref<1024xf32, 1 : i32>, vector<16xf32>
        nest.store %x, %R[16*%i] : vector<16xf32>, memref<1024xf32, 1 : i32>
        nest.store %x, %T[16*%i] : vector<16xf32>, memref<1024xf32, 1 : i32>
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "copies"} : () -> ()

    // Not vectors that lie across lines, parts of lines, single elements, and what is read, too.
    // CHECK:       nest.store %{{.*}}, %A[%j, 16*%i] : vector<16xf32>
    // CHECK:       nest.store %{{.*}}, %B[%j, 8*%i] : vector<8xf32>
    // CHECK:       nest.store %{{.*}}, %C[16*%i] : f32
    // CHECK:       nest.store %{{.*}}, %D[16*%i] : vector<16xf32>
    // CHECK:       sym_name = "others"
    "gpu.func"() <{function_type = (memref<64x33xf32, 1 : i32>, memref<64x32xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%A: memref<64x33xf32, 1 : i32>, %B: memref<64x32xf32, 1 : i32>, %C: memref<1024xf32, 1 : i32>, %D: memref<1024xf32, 1 : i32>):
      nest.for %i : serial to 2 {
        nest.for %j : serial to 64 {
          %x = nest.load %D[16*%i] : memref<1024xf32, 1 : i32>, vector<16xf32>
          %y = nest.load %D[16*%i] : memref<1024xf32, 1 : i32>, vector<8xf32>
          %z = nest.load %D[16*%i] : memref<1024xf32, 1 : i32>
          nest.store %x, %A[%j, 16*%i] : vector<16xf32>, memref<64x33xf32, 1 : i32>
          nest.store %y, %B[%j, 8*%i] : vector<8xf32>, memref<64x32xf32, 1 : i32>
          nest.store %z, %C[16*%i] : f32, memref<1024xf32, 1 : i32>
          nest.store %x, %D[16*%i] : vector<16xf32>, memref<1024xf32, 1 : i32>
        }
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "others"} : () -> ()

    // Lines that vectors fill one after another, few at a time; not where much is computed for each.
    // Several launches may write the same result.
    // CHECK:       nest.store %{{.*}}, %E[%j, 16*%i + 8*%k] {nontemporal} : vector<8xf32>
    // CHECK:       nest.store %{{.*}}, %E[%l, 16*%i + 8*%k] : vector<8xf32>
    // CHECK:       sym_name = "halves"
    "gpu.func"() <{function_type = (memref<64x32xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%E: memref<64x32xf32, 1 : i32>):
      %c = arith.constant dense<1.0> : vector<8xf32>
      nest.for %i : serial to 2 {
        nest.for %k : serial to 2 {
          nest.for %j : unroll to 4 {
            nest.store %c, %E[%j, 16*%i + 8*%k] : vector<8xf32>, memref<64x32xf32, 1 : i32>
          }
          nest.for %l : unroll to 64 {
            nest.store %c, %E[%l, 16*%i + 8*%k] : vector<8xf32>, memref<64x32xf32, 1 : i32>
          }
        }
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "halves"} : () -> ()

    // CHECK:       nest.store %{{.*}}, %G[16*%i] : vector<16xf32>
    // CHECK:       sym_name = "busy"
    "gpu.func"() <{function_type = (memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%F: memref<1024xf32, 1 : i32>, %G: memref<1024xf32, 1 : i32>):
      nest.for %i : serial to 64 {
        %s = nest.buffer : memref<16xf32, 5 : i32>
        nest.for %k : serial to 64 {
          %x = nest.load %F[16*%k] : memref<1024xf32, 1 : i32>, vector<16xf32>
          nest.store %x, %s[0] : vector<16xf32>, memref<16xf32, 5 : i32>
        }
        %y = nest.load %s[0] : memref<16xf32, 5 : i32>, vector<16xf32>
        nest.store %y, %G[16*%i] : vector<16xf32>, memref<1024xf32, 1 : i32>
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "busy"} : () -> ()

    // Nor where everything fits the caches.
    // CHECK:       nest.store %{{.*}}, %Q[16*%i] : vector<16xf32>
    // CHECK:       sym_name = "small"
    "gpu.func"() <{function_type = (memref<256xf32, 1 : i32>, memref<256xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%P: memref<256xf32, 1 : i32>, %Q: memref<256xf32, 1 : i32>):
      nest.for %i : serial to 16 {
        %x = nest.load %P[16*%i] : memref<256xf32, 1 : i32>, vector<16xf32>
        nest.store %x, %Q[16*%i] : vector<16xf32>, memref<256xf32, 1 : i32>
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "small"} : () -> ()
  }) : () -> ()

  func.func @main(%X: memref<1024xf32, 1 : i32>, %P: memref<256xf32, 1 : i32>) -> (memref<1024xf32, 1 : i32>, memref<64x33xf32, 1 : i32>, memref<64x32xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<64x32xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<256xf32, 1 : i32>) {
    %1 = arith.constant 1 : index
    %R = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<1024xf32, 1 : i32>
    %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<1024xf32, 1 : i32>
    %A = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<64x33xf32, 1 : i32>
    %B = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<64x32xf32, 1 : i32>
    %C = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<1024xf32, 1 : i32>
    %D = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<1024xf32, 1 : i32>
    %E = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<64x32xf32, 1 : i32>
    %G = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<1024xf32, 1 : i32>
    %Q = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<256xf32, 1 : i32>
    "gpu.launch_func"(%1, %1, %1, %1, %1, %1, %X, %R, %T) <{kernel = @m::@copies, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 3, 0>}> : (index, index, index, index, index, index, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%1, %1, %1, %1, %1, %1, %A, %B, %C, %D) <{kernel = @m::@others, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 4, 0>}> : (index, index, index, index, index, index, memref<64x33xf32, 1 : i32>, memref<64x32xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%1, %1, %1, %1, %1, %1, %E) <{kernel = @m::@halves, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0>}> : (index, index, index, index, index, index, memref<64x32xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%1, %1, %1, %1, %1, %1, %E) <{kernel = @m::@halves, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0>}> : (index, index, index, index, index, index, memref<64x32xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%1, %1, %1, %1, %1, %1, %T, %G) <{kernel = @m::@busy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>) -> ()
    "gpu.launch_func"(%1, %1, %1, %1, %1, %1, %P, %Q) <{kernel = @m::@small, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<256xf32, 1 : i32>, memref<256xf32, 1 : i32>) -> ()
    func.return %R, %A, %B, %C, %D, %E, %G, %Q : memref<1024xf32, 1 : i32>, memref<64x33xf32, 1 : i32>, memref<64x32xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<64x32xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<256xf32, 1 : i32>
  }
}
