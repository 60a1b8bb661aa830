;; Computes the squared distances of one vector to the rows of a cohort.
;;
;; The rows are stored in blocks of eight. A block has, for each dimension, the float32 values of its
;; eight rows. The vector is at address 0, in float64, so that no value is converted twice.
;; Each distance is summed in float64 in the order of the dimensions. Eight sums run side by side, two
;; in each register.
(module
  ;; Shared, as the memory of the scan: only the owner of the kernel uses it.
  (import "densities" "memory" (memory 1 65536 shared))

  (func (export "measureDistances")
    (param $vectorBytes i32)
    (param $blocks i32) (param $blockCount i32)
    (param $distances i32)
    (local $position i32)
    (local $value v128)
    (local $difference v128)
    (local $first v128)
    (local $second v128)
    (local $third v128)
    (local $fourth v128)
    (loop $block
      (local.set $first (v128.const f64x2 0 0))
      (local.set $second (v128.const f64x2 0 0))
      (local.set $third (v128.const f64x2 0 0))
      (local.set $fourth (v128.const f64x2 0 0))
      (local.set $position (i32.const 0))
      (loop $dimension
        (local.set $value (v128.load64_splat (local.get $position)))
        (local.set $difference
          (f64x2.sub
            (local.get $value)
            (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $blocks)))))
        (local.set $first
          (f64x2.add
            (local.get $first)
            (f64x2.mul (local.get $difference) (local.get $difference))))
        (local.set $difference
          (f64x2.sub
            (local.get $value)
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $blocks)))))
        (local.set $second
          (f64x2.add
            (local.get $second)
            (f64x2.mul (local.get $difference) (local.get $difference))))
        (local.set $difference
          (f64x2.sub
            (local.get $value)
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=16 (local.get $blocks)))))
        (local.set $third
          (f64x2.add
            (local.get $third)
            (f64x2.mul (local.get $difference) (local.get $difference))))
        (local.set $difference
          (f64x2.sub
            (local.get $value)
            (f64x2.promote_low_f32x4 (v128.load64_zero offset=24 (local.get $blocks)))))
        (local.set $fourth
          (f64x2.add
            (local.get $fourth)
            (f64x2.mul (local.get $difference) (local.get $difference))))
        (local.set $blocks (i32.add (local.get $blocks) (i32.const 32)))
        (local.set $position (i32.add (local.get $position) (i32.const 8)))
        (br_if $dimension (i32.lt_u (local.get $position) (local.get $vectorBytes))))
      (v128.store (local.get $distances) (local.get $first))
      (v128.store offset=16 (local.get $distances) (local.get $second))
      (v128.store offset=32 (local.get $distances) (local.get $third))
      (v128.store offset=48 (local.get $distances) (local.get $fourth))
      (local.set $distances (i32.add (local.get $distances) (i32.const 64)))
      (local.set $blockCount (i32.sub (local.get $blockCount) (i32.const 1)))
      (br_if $block (local.get $blockCount)))))
