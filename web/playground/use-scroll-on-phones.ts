import { useEffect, useRef, type RefObject } from 'react'

/** Scrolls an element into view when `id` changes, on screens on which it is below the form. */
export function useScrollOnPhones(id: unknown): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (id !== undefined && window.matchMedia('(max-width: 600px)').matches)
      ref.current?.scrollIntoView({ block: 'start' })
  }, [id])
  return ref
}
