;; The scan: computes an upper bound for the score of every row with one probe and keeps the best.
;;
;; A row consists of its int8 codes (a multiple of 16 bytes) and 16 bytes of metadata:
;;   f32 scale, f32 bias, f32 slack, i32 group set id.
;; The kernel computes an upper bound of the row's score, except for a constant of the probe
;; (quantise.ts explains why it is an upper bound):
;;   codes · probe × scale × gain  +  bias  +  slack × reach
;; A row whose group set is not allowed is skipped. Group set 0 marks an empty row and is never
;; allowed.
;;
;; Rows of a large table also have a lead of 96 bytes: the codes of its 80 lead axes,
;; and f32 scale, f32 bias, f32 rest, i32 group set id. It gives a higher, but cheaper upper bound:
;;   lead codes · lead probe × scale × lead gain  +  bias  +  rest × rest reach  +  scale × scale reach
;; A row whose lead bound is not above all bounds of a full heap is skipped without reading its codes.
;;
;; A job (see scan-job.ts) consists of 32-bit words, listed with their byte offsets:
;;    0 generation (unused)   4 cursor             8 done          12 segments
;;   16 segment count        20 probe             24 code bytes    28 f32 gain
;;   32 f32 reach           36 allowed (bytes)   40 heap rows     44 heaps       48 heap bytes
;;   52 lead probe          56 f32 lead gain     60 f32 rest reach               64 f32 scale reach
;; A segment is 16 bytes: i32 address, i32 rows, i32 number of its first row, i32 address of the first
;; lead or 0.
;; A heap is i32 count, padding to 8, then 8 bytes per entry: f32 bound, i32 row. The root is the
;; entry with the lowest bound, so one comparison decides whether to keep a row.
(module
  ;; At most 4 GiB, because addresses have 32 bits.
  (import "search" "memory" (memory 1 65536 shared))

  ;; Scans one segment of the job after another until none are left. Every thread runs this on the
  ;; same job with its own heap. A late or slow thread scans fewer segments.
  (func (export "scanSegments") (param $job i32) (param $threadIndex i32)
    (local $claim i32)
    (local $segment i32)
    (local $heap i32)
    (block $finished
      (loop $next
        (local.set $claim (i32.atomic.rmw.add offset=4 (local.get $job) (i32.const 1)))
        ;; Read after the claim, so that a successful claim is for the current job.
        (br_if $finished
          (i32.ge_u (local.get $claim) (i32.load offset=16 (local.get $job))))
        (local.set $segment
          (i32.add
            (i32.load offset=12 (local.get $job))
            (i32.shl (local.get $claim) (i32.const 4))))
        (local.set $heap
          (i32.add
            (i32.load offset=44 (local.get $job))
            (i32.mul (local.get $threadIndex) (i32.load offset=48 (local.get $job)))))
        (if (i32.load offset=12 (local.get $segment))
          (then
            (call $scanLeads (local.get $job) (local.get $heap) (local.get $segment)))
          (else
            (call $scan (local.get $job) (local.get $heap) (local.get $segment))))
        (drop (i32.atomic.rmw.add offset=8 (local.get $job) (i32.const 1)))
        (drop
          (memory.atomic.notify (i32.add (local.get $job) (i32.const 8)) (i32.const 1)))
        (br $next))))

  ;; A separate function, so that optimized code is used from the next segment on.
  (func $scan (param $job i32) (param $heap i32) (param $segment i32)
    (local $row i32)
    (local $left i32)
    (local $number i32)
    (local $metadata i32)
    (local.set $row (i32.load (local.get $segment)))
    (local.set $left (i32.load offset=4 (local.get $segment)))
    (local.set $number (i32.load offset=8 (local.get $segment)))
    (loop $rows
      (local.set $metadata (i32.add (local.get $row) (i32.load offset=24 (local.get $job))))
      (if
        (i32.load8_u
          (i32.add
            (i32.load offset=36 (local.get $job))
            (i32.load offset=12 (local.get $metadata))))
        (then
          (call $offer
            (local.get $heap)
            (i32.load offset=40 (local.get $job))
            (call $bound (local.get $job) (local.get $row) (local.get $metadata))
            (local.get $number))))
      (local.set $row (i32.add (local.get $metadata) (i32.const 16)))
      (local.set $number (i32.add (local.get $number) (i32.const 1)))
      (br_if $rows
        (local.tee $left (i32.sub (local.get $left) (i32.const 1))))))

  ;; Scans a segment with leads. The lead probe and the terms of the job stay in registers.
  (func $scanLeads (param $job i32) (param $heap i32) (param $segment i32)
    (local $lead i32)
    (local $end i32)
    (local $number i32)
    (local $allowed i32)
    (local $heapRows i32)
    (local $gain f32)
    (local $restReach f32)
    (local $scaleReach f32)
    (local $limit f32)
    (local $probe0 v128)
    (local $probe1 v128)
    (local $probe2 v128)
    (local $probe3 v128)
    (local $probe4 v128)
    (local $probe5 v128)
    (local $probe6 v128)
    (local $probe7 v128)
    (local $probe8 v128)
    (local $probe9 v128)
    (local $sum v128)
    (local.set $lead (i32.load offset=12 (local.get $segment)))
    (local.set $end
      (i32.add (local.get $lead) (i32.mul (i32.load offset=4 (local.get $segment)) (i32.const 96))))
    (local.set $number (i32.load offset=8 (local.get $segment)))
    (local.set $allowed (i32.load offset=36 (local.get $job)))
    (local.set $heapRows (i32.load offset=40 (local.get $job)))
    (local.set $gain (f32.load offset=56 (local.get $job)))
    (local.set $restReach (f32.load offset=60 (local.get $job)))
    (local.set $scaleReach (f32.load offset=64 (local.get $job)))
    (local.set $limit (call $limit (local.get $heap) (local.get $heapRows)))
    (local.set $probe0 (v128.load (i32.load offset=52 (local.get $job))))
    (local.set $probe1 (v128.load offset=16 (i32.load offset=52 (local.get $job))))
    (local.set $probe2 (v128.load offset=32 (i32.load offset=52 (local.get $job))))
    (local.set $probe3 (v128.load offset=48 (i32.load offset=52 (local.get $job))))
    (local.set $probe4 (v128.load offset=64 (i32.load offset=52 (local.get $job))))
    (local.set $probe5 (v128.load offset=80 (i32.load offset=52 (local.get $job))))
    (local.set $probe6 (v128.load offset=96 (i32.load offset=52 (local.get $job))))
    (local.set $probe7 (v128.load offset=112 (i32.load offset=52 (local.get $job))))
    (local.set $probe8 (v128.load offset=128 (i32.load offset=52 (local.get $job))))
    (local.set $probe9 (v128.load offset=144 (i32.load offset=52 (local.get $job))))
    (loop $rows
      (if
        (i32.load8_u (i32.add (local.get $allowed) (i32.load offset=92 (local.get $lead))))
        (then
          (local.set $sum
            (i32x4.add
              (i32x4.add
                (i32x4.add
                  (i32x4.add
                    (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $lead)) (local.get $probe0))
                    (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $lead)) (local.get $probe1)))
                  (i32x4.add
                    (i32x4.dot_i16x8_s (v128.load8x8_s offset=16 (local.get $lead)) (local.get $probe2))
                    (i32x4.dot_i16x8_s (v128.load8x8_s offset=24 (local.get $lead)) (local.get $probe3))))
                (i32x4.add
                  (i32x4.add
                    (i32x4.dot_i16x8_s (v128.load8x8_s offset=32 (local.get $lead)) (local.get $probe4))
                    (i32x4.dot_i16x8_s (v128.load8x8_s offset=40 (local.get $lead)) (local.get $probe5)))
                  (i32x4.add
                    (i32x4.dot_i16x8_s (v128.load8x8_s offset=48 (local.get $lead)) (local.get $probe6))
                    (i32x4.dot_i16x8_s (v128.load8x8_s offset=56 (local.get $lead)) (local.get $probe7)))))
              (i32x4.add
                (i32x4.dot_i16x8_s (v128.load8x8_s offset=64 (local.get $lead)) (local.get $probe8))
                (i32x4.dot_i16x8_s (v128.load8x8_s offset=72 (local.get $lead)) (local.get $probe9)))))
          (local.set $sum
            (i32x4.add
              (local.get $sum)
              (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7
                (local.get $sum) (local.get $sum))))
          (if
            (f32.gt
              (f32.add
                (f32.mul
                  (f32.mul
                    (f32.convert_i32_s
                      (i32.add
                        (i32x4.extract_lane 0 (local.get $sum))
                        (i32x4.extract_lane 1 (local.get $sum))))
                    (f32.load offset=80 (local.get $lead)))
                  (local.get $gain))
                (f32.add
                  (f32.load offset=84 (local.get $lead))
                  (f32.add
                    (f32.mul (f32.load offset=88 (local.get $lead)) (local.get $restReach))
                    (f32.mul (f32.load offset=80 (local.get $lead)) (local.get $scaleReach)))))
              (local.get $limit))
            (then
              (call $offerRow
                (local.get $job) (local.get $heap) (local.get $segment) (local.get $number))
              (local.set $limit (call $limit (local.get $heap) (local.get $heapRows)))))))
      (local.set $number (i32.add (local.get $number) (i32.const 1)))
      (br_if $rows
        (i32.lt_u
          (local.tee $lead (i32.add (local.get $lead) (i32.const 96)))
          (local.get $end)))))

  ;; Returns the bound that a row must exceed to be kept: that of the root of a full heap.
  (func $limit (param $heap i32) (param $rows i32) (result f32)
    (if (result f32) (i32.lt_u (i32.load (local.get $heap)) (local.get $rows))
      (then (f32.const -inf))
      (else (f32.load offset=8 (local.get $heap)))))

  ;; Offers one row of a segment to the heap, by its number in the table.
  (func $offerRow (param $job i32) (param $heap i32) (param $segment i32) (param $number i32)
    (local $row i32)
    (local.set $row
      (i32.add
        (i32.load (local.get $segment))
        (i32.mul
          (i32.sub (local.get $number) (i32.load offset=8 (local.get $segment)))
          (i32.add (i32.load offset=24 (local.get $job)) (i32.const 16)))))
    (call $offer
      (local.get $heap)
      (i32.load offset=40 (local.get $job))
      (call $bound
        (local.get $job)
        (local.get $row)
        (i32.add (local.get $row) (i32.load offset=24 (local.get $job))))
      (local.get $number)))

  ;; Returns the upper bound of a row from all its codes.
  (func $bound (param $job i32) (param $row i32) (param $metadata i32) (result f32)
    (f32.add
      (f32.mul
        (f32.mul
          (f32.convert_i32_s
            (call $dot
              (local.get $row)
              (local.get $metadata)
              (i32.load offset=20 (local.get $job))))
          (f32.load (local.get $metadata)))
        (f32.load offset=28 (local.get $job)))
      (f32.add
        (f32.load offset=4 (local.get $metadata))
        (f32.mul
          (f32.load offset=8 (local.get $metadata))
          (f32.load offset=32 (local.get $job))))))

  ;; Dot product of int8 codes with an int16 probe, sixteen at a time in two chains of sums.
  (func $dot (param $codes i32) (param $end i32) (param $probe i32) (result i32)
    (local $even v128)
    (local $odd v128)
    (loop $codes16
      (local.set $even
        (i32x4.add
          (local.get $even)
          (i32x4.dot_i16x8_s
            (v128.load8x8_s (local.get $codes))
            (v128.load (local.get $probe)))))
      (local.set $odd
        (i32x4.add
          (local.get $odd)
          (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=8 (local.get $codes))
            (v128.load offset=16 (local.get $probe)))))
      (local.set $probe (i32.add (local.get $probe) (i32.const 32)))
      (br_if $codes16
        (i32.lt_u
          (local.tee $codes (i32.add (local.get $codes) (i32.const 16)))
          (local.get $end))))
    (local.set $even (i32x4.add (local.get $even) (local.get $odd)))
    (i32.add
      (i32.add
        (i32x4.extract_lane 0 (local.get $even))
        (i32x4.extract_lane 1 (local.get $even)))
      (i32.add
        (i32x4.extract_lane 2 (local.get $even))
        (i32x4.extract_lane 3 (local.get $even)))))

  ;; Adds a row to the heap if it is not full, or replaces the worst entry if the row is better.
  (func $offer (param $heap i32) (param $rows i32) (param $bound f32) (param $row i32)
    (local $count i32)
    (local.set $count (i32.load (local.get $heap)))
    (if (i32.lt_u (local.get $count) (local.get $rows))
      (then
        (i32.store (local.get $heap) (i32.add (local.get $count) (i32.const 1)))
        (call $rise (local.get $heap) (local.get $count) (local.get $bound) (local.get $row)))
      (else
        (if (f32.gt (local.get $bound) (f32.load offset=8 (local.get $heap)))
          (then
            (call $sink
              (local.get $heap) (local.get $count) (local.get $bound) (local.get $row)))))))

  ;; Adds a row at the end of the heap and moves larger parents down.
  (func $rise (param $heap i32) (param $place i32) (param $bound f32) (param $row i32)
    (local $parent i32)
    (local $above i32)
    (block $settled
      (loop $up
        (br_if $settled (i32.eqz (local.get $place)))
        (local.set $parent
          (i32.shr_u (i32.sub (local.get $place) (i32.const 1)) (i32.const 1)))
        (local.set $above (call $entry (local.get $heap) (local.get $parent)))
        (br_if $settled (f32.le (f32.load (local.get $above)) (local.get $bound)))
        (i64.store
          (call $entry (local.get $heap) (local.get $place))
          (i64.load (local.get $above)))
        (local.set $place (local.get $parent))
        (br $up)))
    (call $put
      (call $entry (local.get $heap) (local.get $place)) (local.get $bound) (local.get $row)))

  ;; Replaces the root by a row and moves smaller children up.
  (func $sink (param $heap i32) (param $count i32) (param $bound f32) (param $row i32)
    (local $place i32)
    (local $child i32)
    (local $below i32)
    (block $settled
      (loop $down
        (local.set $child
          (i32.add (i32.shl (local.get $place) (i32.const 1)) (i32.const 1)))
        (br_if $settled (i32.ge_u (local.get $child) (local.get $count)))
        (local.set $below (call $entry (local.get $heap) (local.get $child)))
        (if
          (i32.lt_u (i32.add (local.get $child) (i32.const 1)) (local.get $count))
          (then
            (if
              (f32.lt (f32.load offset=8 (local.get $below)) (f32.load (local.get $below)))
              (then
                (local.set $child (i32.add (local.get $child) (i32.const 1)))
                (local.set $below (i32.add (local.get $below) (i32.const 8)))))))
        (br_if $settled (f32.ge (f32.load (local.get $below)) (local.get $bound)))
        (i64.store
          (call $entry (local.get $heap) (local.get $place))
          (i64.load (local.get $below)))
        (local.set $place (local.get $child))
        (br $down)))
    (call $put
      (call $entry (local.get $heap) (local.get $place)) (local.get $bound) (local.get $row)))

  (func $entry (param $heap i32) (param $place i32) (result i32)
    (i32.add
      (i32.add (local.get $heap) (i32.const 8))
      (i32.shl (local.get $place) (i32.const 3))))

  (func $put (param $entry i32) (param $bound f32) (param $row i32)
    (f32.store (local.get $entry) (local.get $bound))
    (i32.store offset=4 (local.get $entry) (local.get $row))))
