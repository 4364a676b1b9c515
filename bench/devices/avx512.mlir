// Intel's CPU runtime on two cores with AVX-512.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
  "type" = "cpu",
  "platform" = "Intel(R) OpenCL",
  "compute_units" = 2 : i64,
  "max_work_group_size" = 8192 : i64,
  "local_mem_size" = 1048576 : i64,
  "global_mem_size" = 17179869184 : i64,
  "max_mem_alloc_size" = 8589934592 : i64,
  "buffer_alignment" = 128 : i64,
  "preferred_vector_width" = 1 : i64,
  "native_vector_width" = 16 : i64,
  "fp64" = true,
  "fp16" = true,
  "compute_capability" = 0 : i64,
  "sub_group_sizes" = [4 : i64, 8 : i64, 16 : i64, 32 : i64, 64 : i64],
  "bandwidth" = 3.100000e+01 : f64,
  "arithmetic" = 2.200000e+02 : f64,
  "launch" = 9.700000e+00 : f64,
  "kept" = 3.200000e+01 : f64
>>} {}
