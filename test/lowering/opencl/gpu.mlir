// RUN: tile-opt %s -t opencl --disable-verify | filecheck %s

// Kernels, helper functions, work-item functions, barriers and names.

"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<64xf32>, f32) -> (), kernel}> ({
  ^bb0(%out : memref<64xf32>, %x : f32):
    %thread_id_x = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    memref.store %x, %out[%thread_id_x] : memref<64xf32>
    %thread_id_y = "gpu.thread_id"() <{dimension = #gpu<dim y>}> : () -> index
    memref.store %x, %out[%thread_id_y] : memref<64xf32>
    %thread_id_z = "gpu.thread_id"() <{dimension = #gpu<dim z>}> : () -> index
    memref.store %x, %out[%thread_id_z] : memref<64xf32>
    %block_id_x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    memref.store %x, %out[%block_id_x] : memref<64xf32>
    %block_id_y = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
    memref.store %x, %out[%block_id_y] : memref<64xf32>
    %block_id_z = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
    memref.store %x, %out[%block_id_z] : memref<64xf32>
    %block_dim_x = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
    memref.store %x, %out[%block_dim_x] : memref<64xf32>
    %block_dim_y = "gpu.block_dim"() <{dimension = #gpu<dim y>}> : () -> index
    memref.store %x, %out[%block_dim_y] : memref<64xf32>
    %block_dim_z = "gpu.block_dim"() <{dimension = #gpu<dim z>}> : () -> index
    memref.store %x, %out[%block_dim_z] : memref<64xf32>
    %grid_dim_x = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
    memref.store %x, %out[%grid_dim_x] : memref<64xf32>
    %grid_dim_y = "gpu.grid_dim"() <{dimension = #gpu<dim y>}> : () -> index
    memref.store %x, %out[%grid_dim_y] : memref<64xf32>
    %grid_dim_z = "gpu.grid_dim"() <{dimension = #gpu<dim z>}> : () -> index
    memref.store %x, %out[%grid_dim_z] : memref<64xf32>
    %global_id_x = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
    memref.store %x, %out[%global_id_x] : memref<64xf32>
    %global_id_y = "gpu.global_id"() <{dimension = #gpu<dim y>}> : () -> index
    memref.store %x, %out[%global_id_y] : memref<64xf32>
    %global_id_z = "gpu.global_id"() <{dimension = #gpu<dim z>}> : () -> index
    memref.store %x, %out[%global_id_z] : memref<64xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "ids", gpu.known_block_size = array<i32: 16, 4, 1>} : () -> ()

  func.func @scale(%x: f32, %by: memref<4xf32>, %i: index) -> f32 {
    %y = memref.load %by[%i] : memref<4xf32>
    %r = arith.mulf %x, %y : f32
    func.return %r : f32
  }

  "gpu.func"() <{function_type = (memref<4xf32, 3 : i32>, i1) -> ()}> ({
  ^bb0(%p : memref<4xf32, 3 : i32>, %b : i1):
    %c0 = arith.constant 0 : index
    %v = arith.uitofp %b : i1 to f32
    memref.store %v, %p[%c0] : memref<4xf32, 3 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "first"} : () -> ()

  "gpu.func"() <{function_type = (memref<4x4xf32>, memref<4xf32>, i1) -> (), kernel}> ({
  ^bb0(%a : memref<4x4xf32>, %out : memref<4xf32>, %f : i1):
    %c2 = arith.constant 2 : index
    %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %t = memref.alloca() : memref<4xf32, 3 : i32>
    %row = memref.subview %a[2, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 8>>
    %base = memref.reinterpret_cast %row to offset: [0], sizes: [4], strides: [1] : memref<4xf32, strided<[1], offset: 8>> to memref<4xf32>
    "func.call"(%t, %f) <{callee = @first}> : (memref<4xf32, 3 : i32>, i1) -> ()
    "gpu.barrier"() : () -> ()
    %x = memref.load %t[%i] : memref<4xf32, 3 : i32>
    %y = func.call @scale(%x, %base, %c2) : (f32, memref<4xf32>, index) -> f32
    memref.store %y, %out[%i] : memref<4xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "calls"} : () -> ()

  "gpu.func"() <{function_type = (memref<64xf32>) -> (), kernel}> ({
  ^bb0(%a : memref<64xf32>):
    %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %c1 = arith.constant 1 : index
    %0 = memref.load %a[%i] : memref<64xf32>
    %square = arith.mulf %0, %0 : f32
    "gpu.barrier"() : () -> ()
    %j = arith.addi %i, %c1 : index
    memref.store %square, %a[%j] : memref<64xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "fence"} : () -> ()

  "gpu.func"() <{function_type = (f32, f32, f32, f32, memref<8xf32>) -> (), kernel}> ({
  ^bb0(%float : f32, %get_global_id : f32, %float4 : f32, %a.b : f32, %out : memref<8xf32>):
    %half = arith.addf %float, %get_global_id : f32
    %as_int = arith.mulf %half, %half : f32
    %0 = arith.addf %as_int, %float4 : f32
    %scale = arith.mulf %0, %a.b : f32
    %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    memref.store %scale, %out[%i] : memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "names"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()

"gpu.module"() <{sym_name = "wide"}> ({
  "gpu.func"() <{function_type = (i1, f16, i8, i64, f64, index, vector<4xf32>, memref<1xf64>, memref<1xf32>) -> (), kernel}> ({
  ^bb0(%b : i1, %h : f16, %c : i8, %l : i64, %x : f64, %n : index, %v : vector<4xf32>, %out : memref<1xf64>, %dead : memref<1xf32>):
    %0 = arith.select %b, %x, %x : f64
    %unused = arith.addf %x, %x : f64
    %hd = arith.extf %h : f16 to f64
    %s = arith.addf %0, %hd : f64
    memref.store %s, %out[%n] : memref<1xf64>
    "gpu.return"() : () -> ()
  }) {sym_name = "scalars"} : () -> ()
}) : () -> ()

// CHECK:      #pragma OPENCL EXTENSION cl_khr_fp64 : enable
//
// CHECK:      __kernel __attribute__((reqd_work_group_size(16, 4, 1))) void ids(
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     float x)
// CHECK-NEXT: {
// CHECK-NEXT:     int thread_id_x = get_local_id(0);
// CHECK-NEXT:     out[thread_id_x] = x;
// CHECK-NEXT:     int thread_id_y = get_local_id(1);
// CHECK-NEXT:     out[thread_id_y] = x;
// CHECK-NEXT:     int thread_id_z = get_local_id(2);
// CHECK-NEXT:     out[thread_id_z] = x;
// CHECK-NEXT:     int block_id_x = get_group_id(0);
// CHECK-NEXT:     out[block_id_x] = x;
// CHECK-NEXT:     int block_id_y = get_group_id(1);
// CHECK-NEXT:     out[block_id_y] = x;
// CHECK-NEXT:     int block_id_z = get_group_id(2);
// CHECK-NEXT:     out[block_id_z] = x;
// CHECK-NEXT:     int block_dim_x = get_local_size(0);
// CHECK-NEXT:     out[block_dim_x] = x;
// CHECK-NEXT:     int block_dim_y = get_local_size(1);
// CHECK-NEXT:     out[block_dim_y] = x;
// CHECK-NEXT:     int block_dim_z = get_local_size(2);
// CHECK-NEXT:     out[block_dim_z] = x;
// CHECK-NEXT:     int grid_dim_x = get_num_groups(0);
// CHECK-NEXT:     out[grid_dim_x] = x;
// CHECK-NEXT:     int grid_dim_y = get_num_groups(1);
// CHECK-NEXT:     out[grid_dim_y] = x;
// CHECK-NEXT:     int grid_dim_z = get_num_groups(2);
// CHECK-NEXT:     out[grid_dim_z] = x;
// CHECK-NEXT:     int global_id_x = get_global_id(0);
// CHECK-NEXT:     out[global_id_x] = x;
// CHECK-NEXT:     int global_id_y = get_global_id(1);
// CHECK-NEXT:     out[global_id_y] = x;
// CHECK-NEXT:     int global_id_z = get_global_id(2);
// CHECK-NEXT:     out[global_id_z] = x;
// CHECK-NEXT: }
//
// CHECK:      static inline float scale(float x, const __global float *by, int i)
// CHECK-NEXT: {
// CHECK-NEXT:     return x * by[i];
// CHECK-NEXT: }
//
// CHECK:      static inline void first(__local float *p, bool b)
// CHECK-NEXT: {
// CHECK-NEXT:     p[0] = (float)b;
// CHECK-NEXT: }
//
// CHECK:      __kernel void calls(const __global float *restrict a, __global float *restrict out, uchar f)
// CHECK-NEXT: {
// CHECK-NEXT:     __local float t[4];
// CHECK-NEXT:     int i = get_local_id(0);
// CHECK-NEXT:     first(t, f != 0);
// CHECK-NEXT:     barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT:     float y = scale(t[i], a, 2);
// CHECK-NEXT:     out[i] = y;
// CHECK-NEXT: }
//
// CHECK:      __kernel void fence(__global float *restrict a)
// CHECK-NEXT: {
// CHECK-NEXT:     int i = get_local_id(0);
// CHECK-NEXT:     float v = a[i];
// CHECK-NEXT:     float square = v * v;
// CHECK-NEXT:     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
// CHECK-NEXT:     a[i + 1] = square;
// CHECK-NEXT: }
//
// CHECK:      __kernel void names(
// CHECK-NEXT:     float float_,
// CHECK-NEXT:     float v_get_global_id,
// CHECK-NEXT:     float float4_,
// CHECK-NEXT:     float a_b,
// CHECK-NEXT:     __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     float v_half = float_ + v_get_global_id;
// CHECK-NEXT:     int i = get_local_id(0);
// CHECK-NEXT:     out[i] = (v_half * v_half + float4_) * a_b;
// CHECK-NEXT: }
//
// CHECK:      __kernel void scalars(
// CHECK-NEXT:     uchar b,
// CHECK-NEXT:     float h,
// CHECK-NEXT:     char c,
// CHECK-NEXT:     long l,
// CHECK-NEXT:     double x,
// CHECK-NEXT:     long n,
// CHECK-NEXT:     float4 v,
// CHECK-NEXT:     __global double *restrict out,
// CHECK-NEXT:     const __global float *restrict dead)
// CHECK-NEXT: {
// CHECK-NEXT:     out[n] = (b != 0 ? x : x) + (double)h;
// CHECK-NEXT: }
