;; Computes the codes and the metadata of rows and of their leads, in the layout that scan.wat reads.
;;
;; The caller copies vectors and densities to a scratch area (see quantise-kernel.ts):
;;      0  u16 numbers of the 80 lead axes
;;    160  f32 values of one vector at the lead axes, written here
;;    480  f64 density of each row, at most 64
;;    992  f32 values of each vector, filled up with zeros to a multiple of 16
;;
;; All sums and products are float64, in which the product of a code and a scale is exact. The docstrings
;; of table/quantise.ts and table/lead.ts derive the bounds that the metadata give.
(module
  ;; At most 4 GiB, because addresses have 32 bits.
  (import "search" "memory" (memory 1 65536 shared))

  ;; Results of $quantise.
  (global $scale (mut f64) (f64.const 0))
  (global $squared (mut f64) (f64.const 0))
  (global $squaredError (mut f64) (f64.const 0))

  ;; Writes successive rows, except empty ones: those with group set 0. `codes` is the number of codes
  ;; of a row, and `lead` is the address of the lead of the first row, or 0 without leads.
  (func (export "quantiseRows")
    (param $scratch i32) (param $rows i32) (param $codes i32) (param $row i32) (param $lead i32)
    (local $vector i32)
    (local $density i32)
    (local $metadata i32)
    (local.set $density (i32.add (local.get $scratch) (i32.const 480)))
    (local.set $vector (i32.add (local.get $scratch) (i32.const 992)))
    (loop $next
      (local.set $metadata (i32.add (local.get $row) (local.get $codes)))
      (if (i32.load offset=12 (local.get $metadata))
        (then
          (call $quantise
            (local.get $vector)
            (i32.add (local.get $vector) (i32.shl (local.get $codes) (i32.const 2)))
            (local.get $row))
          (call $putMetadata (local.get $metadata) (f64.load (local.get $density)))
          (if (local.get $lead)
            (then
              (call $putLead
                (local.get $scratch) (local.get $vector) (local.get $lead) (local.get $metadata))))))
      (local.set $row (i32.add (local.get $metadata) (i32.const 16)))
      (local.set $vector (i32.add (local.get $vector) (i32.shl (local.get $codes) (i32.const 2))))
      (local.set $density (i32.add (local.get $density) (i32.const 8)))
      (if (local.get $lead)
        (then (local.set $lead (i32.add (local.get $lead) (i32.const 96)))))
      (br_if $next (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; Writes scale, bias and slack of a row after $quantise.
  (func $putMetadata (param $metadata i32) (param $density f64)
    (f32.store (local.get $metadata) (f32.demote_f64 (global.get $scale)))
    ;; −|b|² − ½r(b), plus a margin of 2⁻²⁰ for float32 rounding and one for denormal numbers.
    (f32.store offset=4 (local.get $metadata)
      (f32.demote_f64
        (f64.add
          (f64.sub
            (f64.neg (global.get $squared))
            (f64.mul (local.get $density) (f64.const 0.5)))
          (f64.add
            (f64.mul
              (f64.add (global.get $squared) (f64.abs (local.get $density)))
              (f64.const 0x1p-20))
            (f64.const 1e-30)))))
    (f32.store offset=8 (local.get $metadata)
      (f32.demote_f64
        (f64.mul
          (f64.max
            (f64.sqrt (global.get $squaredError))
            (f64.mul (f64.sqrt (global.get $squared)) (f64.const 0x1p-8)))
          (f64.const 0x1.00001p+0)))))

  ;; Writes the lead of a row after its metadata and $quantise.
  (func $putLead
    (param $scratch i32) (param $vector i32) (param $lead i32) (param $metadata i32)
    (local $squared f64)
    (local $axis i32)
    (local $value i32)
    (local.set $squared (global.get $squared))
    (local.set $axis (local.get $scratch))
    (local.set $value (i32.add (local.get $scratch) (i32.const 160)))
    (loop $gather
      (f32.store (local.get $value)
        (f32.load
          (i32.add
            (local.get $vector)
            (i32.shl (i32.load16_u (local.get $axis)) (i32.const 2)))))
      (f32.store offset=4 (local.get $value)
        (f32.load
          (i32.add
            (local.get $vector)
            (i32.shl (i32.load16_u offset=2 (local.get $axis)) (i32.const 2)))))
      (local.set $value (i32.add (local.get $value) (i32.const 8)))
      (br_if $gather
        (i32.lt_u
          (local.tee $axis (i32.add (local.get $axis) (i32.const 4)))
          (i32.add (local.get $scratch) (i32.const 160)))))
    (call $quantise
      (i32.add (local.get $scratch) (i32.const 160))
      (i32.add (local.get $scratch) (i32.const 480))
      (local.get $lead))
    (f32.store offset=80 (local.get $lead) (f32.demote_f64 (global.get $scale)))
    (i32.store offset=84 (local.get $lead) (i32.load offset=4 (local.get $metadata)))
    ;; 2⁻⁴⁰ covers the rounding of both sums, and 2⁻²⁰ that of the kernel that scans.
    (f32.store offset=88 (local.get $lead)
      (f32.demote_f64
        (f64.mul
          (f64.sqrt
            (f64.add
              (f64.max (f64.const 0) (f64.sub (local.get $squared) (global.get $squared)))
              (f64.mul (local.get $squared) (f64.const 0x1p-40))))
          (f64.const 0x1.00001p+0))))
    (i32.store offset=92 (local.get $lead) (i32.load offset=12 (local.get $metadata))))

  ;; Writes the int8 codes of float32 values, a multiple of 16. Code × scale approximates the value.
  (func $quantise (param $values i32) (param $end i32) (param $codes i32)
    (local $scale v128)
    (local $stepsPerUnit v128)
    (local $value v128)
    (local $high v128)
    (local $steps v128)
    (local $highSteps v128)
    (local $error v128)
    (local $highError v128)
    (local $squared v128)
    (local $highSquared v128)
    (local $squaredError v128)
    (local $highSquaredError v128)
    (global.set $scale (call $scaleOf (local.get $values) (local.get $end)))
    (local.set $scale (f64x2.splat (global.get $scale)))
    (local.set $stepsPerUnit (f64x2.splat (f64.div (f64.const 1) (global.get $scale))))
    (loop $values4
      (local.set $value (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $values))))
      (local.set $high (f64x2.promote_low_f32x4 (v128.load64_zero offset=8 (local.get $values))))
      ;; 1.5 × 2⁵² leaves no bits for a fraction. The low bits of the sum are the rounded number.
      (local.set $steps
        (f64x2.add
          (f64x2.mul (local.get $value) (local.get $stepsPerUnit))
          (v128.const f64x2 0x1.8p+52 0x1.8p+52)))
      (local.set $highSteps
        (f64x2.add
          (f64x2.mul (local.get $high) (local.get $stepsPerUnit))
          (v128.const f64x2 0x1.8p+52 0x1.8p+52)))
      (v128.store32_lane 0 (local.get $codes)
        (i8x16.narrow_i16x8_s
          (i16x8.narrow_i32x4_s
            (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
              (local.get $steps) (local.get $highSteps))
            (local.get $steps))
          (local.get $steps)))
      (local.set $error
        (f64x2.sub
          (local.get $value)
          (f64x2.mul
            (f64x2.sub (local.get $steps) (v128.const f64x2 0x1.8p+52 0x1.8p+52))
            (local.get $scale))))
      (local.set $highError
        (f64x2.sub
          (local.get $high)
          (f64x2.mul
            (f64x2.sub (local.get $highSteps) (v128.const f64x2 0x1.8p+52 0x1.8p+52))
            (local.get $scale))))
      (local.set $squared
        (f64x2.add (local.get $squared) (f64x2.mul (local.get $value) (local.get $value))))
      (local.set $highSquared
        (f64x2.add (local.get $highSquared) (f64x2.mul (local.get $high) (local.get $high))))
      (local.set $squaredError
        (f64x2.add (local.get $squaredError) (f64x2.mul (local.get $error) (local.get $error))))
      (local.set $highSquaredError
        (f64x2.add
          (local.get $highSquaredError)
          (f64x2.mul (local.get $highError) (local.get $highError))))
      (local.set $codes (i32.add (local.get $codes) (i32.const 4)))
      (br_if $values4
        (i32.lt_u
          (local.tee $values (i32.add (local.get $values) (i32.const 16)))
          (local.get $end))))
    (global.set $squared
      (call $sum (f64x2.add (local.get $squared) (local.get $highSquared))))
    (global.set $squaredError
      (call $sum (f64x2.add (local.get $squaredError) (local.get $highSquaredError)))))

  ;; Returns the value of one step of the codes: a 127th of the largest magnitude as a float32 value,
  ;; but at least 2⁻¹⁰⁰.
  (func $scaleOf (param $values i32) (param $end i32) (result f64)
    (local $even v128)
    (local $odd v128)
    (loop $values8
      (local.set $even
        (f32x4.pmax (local.get $even) (f32x4.abs (v128.load (local.get $values)))))
      (local.set $odd
        (f32x4.pmax (local.get $odd) (f32x4.abs (v128.load offset=16 (local.get $values)))))
      (br_if $values8
        (i32.lt_u
          (local.tee $values (i32.add (local.get $values) (i32.const 32)))
          (local.get $end))))
    (local.set $even (f32x4.pmax (local.get $even) (local.get $odd)))
    (f64.max
      (f64.const 0x1p-100)
      (f64.promote_f32
        (f32.demote_f64
          (f64.div
            (f64.promote_f32
              (f32.max
                (f32.max
                  (f32x4.extract_lane 0 (local.get $even))
                  (f32x4.extract_lane 1 (local.get $even)))
                (f32.max
                  (f32x4.extract_lane 2 (local.get $even))
                  (f32x4.extract_lane 3 (local.get $even)))))
            (f64.const 127))))))

  (func $sum (param $pair v128) (result f64)
    (f64.add
      (f64x2.extract_lane 0 (local.get $pair))
      (f64x2.extract_lane 1 (local.get $pair)))))
