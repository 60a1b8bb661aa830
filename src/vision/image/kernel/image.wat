;; Loops over the pixels of a frame: 8-bit R G B, interleaved, without padding.
;;
;; `halve` and `sample` read up to 32 bytes, or one row and 8 bytes, past the last pixel. These bytes do not
;; affect the result, but they must be inside the memory.
(module
  ;; At most 256 MiB. It is not shared, because copies into shared memory take longer.
  (import "image" "memory" (memory 1 4096))

  ;; Writes the frame at half its width and height to $to. Every pixel is the rounded mean of four. An
  ;; odd side is rounded up; its last pixel is repeated. Writes one byte past the last pixel.
  (func (export "halve") (param $from i32) (param $width i32) (param $height i32) (param $to i32)
    (local $stride i32)
    (local $lower i32)
    (local $rowEnd i32)
    (local $end i32)
    (local $next i32)
    (local.set $stride (i32.mul (local.get $width) (i32.const 3)))
    (local.set $end
      (i32.add (local.get $from) (i32.mul (local.get $stride) (local.get $height))))
    (loop $rows
      (local.set $next
        (i32.add (local.get $from) (i32.shl (local.get $stride) (i32.const 1))))
      (local.set $lower (i32.add (local.get $from) (local.get $stride)))
      (if (i32.ge_u (local.get $lower) (local.get $end))
        (then (local.set $lower (local.get $from))))
      ;; Five pixels of the result, 15 bytes, per step. A sixteenth byte is overwritten later.
      (local.set $rowEnd
        (i32.add
          (local.get $to)
          (i32.mul (i32.shr_u (local.get $width) (i32.const 1)) (i32.const 3))))
      (block $groupsEnd
        (loop $groups
          (br_if $groupsEnd
            (i32.gt_u (i32.add (local.get $to) (i32.const 15)) (local.get $rowEnd)))
          (v128.store
            (local.get $to)
            (call $meanOfPairs
              (v128.load (local.get $from))
              (v128.load offset=16 (local.get $from))
              (v128.load (local.get $lower))
              (v128.load offset=16 (local.get $lower))))
          (local.set $to (i32.add (local.get $to) (i32.const 15)))
          (local.set $from (i32.add (local.get $from) (i32.const 30)))
          (local.set $lower (i32.add (local.get $lower) (i32.const 30)))
          (br $groups)))
      (block $pixelsEnd
        (loop $pixels
          (br_if $pixelsEnd (i32.ge_u (local.get $to) (local.get $rowEnd)))
          (call $meanOfFour (local.get $from) (local.get $lower) (local.get $to))
          (call $meanOfFour
            (i32.add (local.get $from) (i32.const 1))
            (i32.add (local.get $lower) (i32.const 1))
            (i32.add (local.get $to) (i32.const 1)))
          (call $meanOfFour
            (i32.add (local.get $from) (i32.const 2))
            (i32.add (local.get $lower) (i32.const 2))
            (i32.add (local.get $to) (i32.const 2)))
          (local.set $to (i32.add (local.get $to) (i32.const 3)))
          (local.set $from (i32.add (local.get $from) (i32.const 6)))
          (local.set $lower (i32.add (local.get $lower) (i32.const 6)))
          (br $pixels)))
      (if (i32.and (local.get $width) (i32.const 1))
        (then
          (call $meanOfTwo (local.get $from) (local.get $lower) (local.get $to))
          (call $meanOfTwo
            (i32.add (local.get $from) (i32.const 1))
            (i32.add (local.get $lower) (i32.const 1))
            (i32.add (local.get $to) (i32.const 1)))
          (call $meanOfTwo
            (i32.add (local.get $from) (i32.const 2))
            (i32.add (local.get $lower) (i32.const 2))
            (i32.add (local.get $to) (i32.const 2)))
          (local.set $to (i32.add (local.get $to) (i32.const 3)))))
      (local.set $from (local.get $next))
      (br_if $rows (i32.lt_u (local.get $from) (local.get $end)))))

  ;; Returns five pixels from ten of an upper row, in $a and $b, and ten of a lower row, in $c and $d.
  (func $meanOfPairs (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result v128)
    (local $even v128)
    (local $odd v128)
    (local $low v128)
    (local $high v128)
    (local.set $even
      (i8x16.shuffle 0 1 2 6 7 8 12 13 14 18 19 20 24 25 26 26 (local.get $a) (local.get $b)))
    (local.set $odd
      (i8x16.shuffle 3 4 5 9 10 11 15 16 17 21 22 23 27 28 29 29 (local.get $a) (local.get $b)))
    (local.set $low
      (i16x8.add
        (i16x8.extend_low_i8x16_u (local.get $even))
        (i16x8.extend_low_i8x16_u (local.get $odd))))
    (local.set $high
      (i16x8.add
        (i16x8.extend_high_i8x16_u (local.get $even))
        (i16x8.extend_high_i8x16_u (local.get $odd))))
    (local.set $even
      (i8x16.shuffle 0 1 2 6 7 8 12 13 14 18 19 20 24 25 26 26 (local.get $c) (local.get $d)))
    (local.set $odd
      (i8x16.shuffle 3 4 5 9 10 11 15 16 17 21 22 23 27 28 29 29 (local.get $c) (local.get $d)))
    (local.set $low
      (i16x8.add
        (i16x8.add (local.get $low) (i16x8.splat (i32.const 2)))
        (i16x8.add
          (i16x8.extend_low_i8x16_u (local.get $even))
          (i16x8.extend_low_i8x16_u (local.get $odd)))))
    (local.set $high
      (i16x8.add
        (i16x8.add (local.get $high) (i16x8.splat (i32.const 2)))
        (i16x8.add
          (i16x8.extend_high_i8x16_u (local.get $even))
          (i16x8.extend_high_i8x16_u (local.get $odd)))))
    (i8x16.narrow_i16x8_u
      (i16x8.shr_u (local.get $low) (i32.const 2))
      (i16x8.shr_u (local.get $high) (i32.const 2))))

  (func $meanOfFour (param $upper i32) (param $lower i32) (param $to i32)
    (i32.store8
      (local.get $to)
      (i32.shr_u
        (i32.add
          (i32.add (i32.load8_u (local.get $upper)) (i32.load8_u offset=3 (local.get $upper)))
          (i32.add
            (i32.add (i32.load8_u (local.get $lower)) (i32.load8_u offset=3 (local.get $lower)))
            (i32.const 2)))
        (i32.const 2))))

  (func $meanOfTwo (param $upper i32) (param $lower i32) (param $to i32)
    (i32.store8
      (local.get $to)
      (i32.shr_u
        (i32.add
          (i32.add (i32.load8_u (local.get $upper)) (i32.load8_u (local.get $lower)))
          (i32.const 1))
        (i32.const 1))))

  ;; Samples a crop of $width × $height pixels and writes it to $to: float32, all of R, then G, then B.
  ;; Crop point (x, y) shows frame point (a·x + b·y + c, d·x + e·y + f), in continuous coordinates.
  ;; Every crop pixel is the mean of $perSide × $perSide bilinear samples. Points beyond the first
  ;; pixel, or beyond ($right, $bottom), the last pixel, show the nearest pixel.
  (func (export "sample")
    (param $from i32) (param $stride i32) (param $right f64) (param $bottom f64)
    (param $a f64) (param $b f64) (param $c f64) (param $d f64) (param $e f64) (param $f f64)
    (param $width i32) (param $height i32) (param $perSide i32) (param $to i32)
    (local $last v128)
    (local $across v128)
    (local $down v128)
    (local $rowPoint v128)
    (local $pixelPoint v128)
    (local $point v128)
    (local $whole v128)
    (local $share v128)
    (local $toRight v128)
    (local $upper v128)
    (local $lower v128)
    (local $sum v128)
    (local $weight v128)
    (local $pixelBytes v128)
    (local $origin v128)
    (local $pixel i32)
    (local $plane i32)
    (local $column i32)
    (local $row i32)
    (local $m i32)
    (local $n i32)
    (local $step f64)
    (local.set $plane
      (i32.shl (i32.mul (local.get $width) (local.get $height)) (i32.const 2)))
    (local.set $last
      (f64x2.replace_lane 1 (f64x2.splat (local.get $right)) (local.get $bottom)))
    ;; The address of a pixel is computed with 64 bits: 2^52 is added, so that its integer is in the
    ;; lowest bits.
    (local.set $pixelBytes
      (f64x2.replace_lane 1
        (v128.const f64x2 3 3)
        (f64.convert_i32_u (local.get $stride))))
    (local.set $origin
      (f64x2.replace_lane 0
        (v128.const f64x2 0 0)
        (f64.add (f64.const 4503599627370496) (f64.convert_i32_u (local.get $from)))))
    ;; The steps from one sample to the next.
    (local.set $step
      (f64.div (f64.const 1) (f64.convert_i32_s (local.get $perSide))))
    (local.set $across
      (f64x2.mul
        (f64x2.replace_lane 1 (f64x2.splat (local.get $a)) (local.get $d))
        (f64x2.splat (local.get $step))))
    (local.set $down
      (f64x2.mul
        (f64x2.replace_lane 1 (f64x2.splat (local.get $b)) (local.get $e))
        (f64x2.splat (local.get $step))))
    (local.set $weight
      (f32x4.splat (f32.demote_f64 (f64.mul (local.get $step) (local.get $step)))))
    (loop $rows
      ;; The first sample of the row: the middle of the first part of its first pixel. Half a pixel
      ;; is subtracted, because the samples are relative to the centres of frame pixels.
      (local.set $rowPoint
        (f64x2.sub
          (f64x2.add
            (f64x2.add
              (f64x2.mul (local.get $across) (f64x2.splat (f64.const 0.5)))
              (f64x2.mul
                (local.get $down)
                (f64x2.splat
                  (f64.add
                    (f64.convert_i32_s (i32.mul (local.get $row) (local.get $perSide)))
                    (f64.const 0.5)))))
            (f64x2.replace_lane 1 (f64x2.splat (local.get $c)) (local.get $f)))
          (f64x2.splat (f64.const 0.5))))
      (local.set $column (i32.const 0))
      (loop $columns
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $pixelPoint (local.get $rowPoint))
        (local.set $m (local.get $perSide))
        (loop $sampleRows
          (local.set $point (local.get $pixelPoint))
          (local.set $n (local.get $perSide))
          (loop $samples
            (local.set $upper
              (f64x2.pmax
                (v128.const f64x2 0 0)
                (f64x2.pmin (local.get $last) (local.get $point))))
            (local.set $whole (f64x2.floor (local.get $upper)))
            (local.set $share
              (f32x4.demote_f64x2_zero (f64x2.sub (local.get $upper) (local.get $whole))))
            (local.set $toRight
              (i8x16.shuffle 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3 (local.get $share) (local.get $share)))
            (local.set $whole
              (f64x2.add
                (f64x2.mul (local.get $whole) (local.get $pixelBytes))
                (local.get $origin)))
            (local.set $pixel
              (i32x4.extract_lane 0
                (f64x2.add
                  (local.get $whole)
                  (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15
                    (local.get $whole) (local.get $whole)))))
            (local.set $upper (call $between (local.get $pixel) (local.get $toRight)))
            (local.set $lower
              (call $between
                (i32.add (local.get $pixel) (local.get $stride))
                (local.get $toRight)))
            (local.set $sum
              (f32x4.add
                (local.get $sum)
                (f32x4.add
                  (local.get $upper)
                  (f32x4.mul
                    (f32x4.sub (local.get $lower) (local.get $upper))
                    (i8x16.shuffle 4 5 6 7 4 5 6 7 4 5 6 7 4 5 6 7
                      (local.get $share) (local.get $share))))))
            (local.set $point (f64x2.add (local.get $point) (local.get $across)))
            (br_if $samples
              (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (local.set $pixelPoint (f64x2.add (local.get $pixelPoint) (local.get $down)))
          (br_if $sampleRows
            (local.tee $m (i32.sub (local.get $m) (i32.const 1)))))
        (local.set $sum (f32x4.mul (local.get $sum) (local.get $weight)))
        (v128.store32_lane 0 (local.get $to) (local.get $sum))
        (v128.store32_lane 1 (i32.add (local.get $to) (local.get $plane)) (local.get $sum))
        (v128.store32_lane 2
          (i32.add (local.get $to) (i32.shl (local.get $plane) (i32.const 1)))
          (local.get $sum))
        (local.set $to (i32.add (local.get $to) (i32.const 4)))
        (local.set $rowPoint
          (f64x2.add
            (local.get $rowPoint)
            (f64x2.replace_lane 1 (f64x2.splat (local.get $a)) (local.get $d))))
        (br_if $columns
          (i32.lt_u
            (local.tee $column (i32.add (local.get $column) (i32.const 1)))
            (local.get $width))))
      (br_if $rows
        (i32.lt_u
          (local.tee $row (i32.add (local.get $row) (i32.const 1)))
          (local.get $height)))))

  ;; Multiplies $count float32 values at $at by $scale and adds $offset, with 64 bits.
  (func (export "scale") (param $at i32) (param $count i32) (param $scale f64) (param $offset f64)
    (local $end i32)
    (local $factors v128)
    (local $offsets v128)
    (local.set $end
      (i32.add (local.get $at) (i32.shl (local.get $count) (i32.const 2))))
    (local.set $factors (f64x2.splat (local.get $scale)))
    (local.set $offsets (f64x2.splat (local.get $offset)))
    (block $pairsEnd
      (loop $pairs
        (br_if $pairsEnd
          (i32.gt_u (i32.add (local.get $at) (i32.const 8)) (local.get $end)))
        (v128.store64_lane 0
          (local.get $at)
          (f32x4.demote_f64x2_zero
            (f64x2.add
              (f64x2.mul
                (f64x2.promote_low_f32x4 (v128.load64_zero (local.get $at)))
                (local.get $factors))
              (local.get $offsets))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $pairs)))
    (if (i32.lt_u (local.get $at) (local.get $end))
      (then
        (f32.store
          (local.get $at)
          (f32.demote_f64
            (f64.add
              (f64.mul (f64.promote_f32 (f32.load (local.get $at))) (local.get $scale))
              (local.get $offset)))))))

  ;; Returns R, G and B between the pixel at $pixel and the pixel to the right of it. A mask for a swizzle
  ;; would take longer, because V8 creates a constant at each of its uses.
  (func $between (param $pixel i32) (param $share v128) (result v128)
    (local $pair v128)
    (local.set $pair (v128.load8x8_u (local.get $pixel)))
    (f32x4.add
      (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (local.get $pair)))
      (f32x4.mul
        (f32x4.convert_i32x4_s
          (i32x4.extend_low_i16x8_s
            (i16x8.sub
              (i8x16.shuffle 6 7 8 9 10 11 12 13 14 15 0 1 2 3 4 5 (local.get $pair) (local.get $pair))
              (local.get $pair))))
        (local.get $share)))))
