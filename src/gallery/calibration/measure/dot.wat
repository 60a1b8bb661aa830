;; Dot products of one row of float32 values with consecutive rows, by SIMD.
;; Assembled into dot.wasm by npm run kernels.
(module
  (import "dot" "memory" (memory 1 65536 shared))

  ;; Writes the products of the row at $a with $count rows from $b on to $out.
  ;; $bytes: the size of a row, a multiple of 32.
  (func (export "dotProducts")
    (param $a i32) (param $b i32) (param $count i32) (param $bytes i32) (param $out i32)
    (local $at i32) (local $end i32) (local $even v128) (local $odd v128)
    (local.set $end (i32.add (local.get $a) (local.get $bytes)))
    (block $done
      (loop $row
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $even (v128.const i32x4 0 0 0 0))
        (local.set $odd (v128.const i32x4 0 0 0 0))
        (local.set $at (local.get $a))
        (loop $values
          (local.set $even (f32x4.add (local.get $even)
            (f32x4.mul (v128.load (local.get $at)) (v128.load (local.get $b)))))
          (local.set $odd (f32x4.add (local.get $odd)
            (f32x4.mul (v128.load offset=16 (local.get $at)) (v128.load offset=16 (local.get $b)))))
          (local.set $at (i32.add (local.get $at) (i32.const 32)))
          (local.set $b (i32.add (local.get $b) (i32.const 32)))
          (br_if $values (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $even (f32x4.add (local.get $even) (local.get $odd)))
        (f32.store (local.get $out)
          (f32.add
            (f32.add (f32x4.extract_lane 0 (local.get $even)) (f32x4.extract_lane 1 (local.get $even)))
            (f32.add (f32x4.extract_lane 2 (local.get $even)) (f32x4.extract_lane 3 (local.get $even)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $row)))))
