// An NVIDIA H100.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
  "type" = "gpu",
  "platform" = "NVIDIA CUDA",
  "compute_units" = 132 : i64,
  "max_work_group_size" = 1024 : i64,
  "local_mem_size" = 49152 : i64,
  "global_mem_size" = 85899345920 : i64,
  "max_mem_alloc_size" = 21474836480 : i64,
  "buffer_alignment" = 512 : i64,
  "preferred_vector_width" = 1 : i64,
  "native_vector_width" = 1 : i64,
  "fp64" = true,
  "fp16" = true,
  "compute_capability" = 90 : i64,
  "local_mem_unit" = 233472 : i64,
  "sub_group_sizes" = [32 : i64],
  "bandwidth" = 2.700000e+03 : f64,
  "arithmetic" = 5.200000e+04 : f64,
  "launch" = 4.000000e+00 : f64
>>} {}
