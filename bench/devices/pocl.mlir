// PoCL 3 on two cores with AVX-512.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
  "type" = "cpu",
  "platform" = "Portable Computing Language",
  "compute_units" = 2 : i64,
  "max_work_group_size" = 4096 : i64,
  "local_mem_size" = 1048576 : i64,
  "global_mem_size" = 17179869184 : i64,
  "max_mem_alloc_size" = 8589934592 : i64,
  "buffer_alignment" = 128 : i64,
  "preferred_vector_width" = 8 : i64,
  "native_vector_width" = 16 : i64,
  "fp64" = true,
  "fp16" = false,
  "compute_capability" = 0 : i64,
  "bandwidth" = 2.000000e+01 : f64,
  "arithmetic" = 1.500000e+02 : f64,
  "launch" = 5.000000e+00 : f64,
  "kept" = 1.600000e+01 : f64
>>} {}
