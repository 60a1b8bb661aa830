import { useEffect } from 'react'

/** Where the focus was, and what finds its successor after its element was removed. */
type FocusPlace = {
  readonly element: HTMLElement
  readonly label: string
  /** The label of the table or list that contains the element, and the number of its row. */
  readonly table: string | null | undefined
  readonly row: number
}

const controls = 'button, a[href], input, select, textarea, [tabindex]'
const rows = 'tbody tr, [data-row]'
/** A button without further use, such as "Next page" on the last page. A loading one is used again. */
const endedButton = 'button:disabled:not([data-loading])'

/**
 * Returns the focus to where it was when its element disappears: after a dialog to the control that
 * opened it, after the removal of a row to a neighbour or to the list, otherwise to the heading. The
 * focus of a button that is disabled moves to the control before it.
 */
export function useKeepFocus(): void {
  useEffect(() => {
    const places = new Map<Element | null, FocusPlace>()
    const onFocus = ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement) places.set(dialogOf(target), placeOf(target))
    }
    const onPointer = ({ target }: PointerEvent): void => {
      if (!(target instanceof Element)) return
      const control = target.closest<HTMLElement>(controls)
      // A click beside all controls moves the focus away on purpose.
      if (control) places.set(dialogOf(target), placeOf(control))
      else places.delete(dialogOf(target))
    }
    // Tab moves the focus away on purpose, also out of the page.
    const onKey = ({ key, target }: KeyboardEvent): void => {
      if (key === 'Tab' && target instanceof Element) places.delete(dialogOf(target))
    }
    const observer = new MutationObserver(() => {
      const active = document.activeElement ?? document.body
      // A button that becomes disabled has the focus until the next frame.
      if (active !== document.body && !active.matches(endedButton)) return
      const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1) ?? null
      for (const known of places.keys()) if (known?.isConnected === false) places.delete(known)
      const place = places.get(dialog)
      if (place) successorOf(place, dialog)?.focus({ preventScroll: true })
    })
    document.addEventListener('focusin', onFocus)
    document.addEventListener('pointerdown', onPointer, true)
    document.addEventListener('keydown', onKey, true)
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      attributeFilter: ['disabled'],
    })
    return () => {
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('pointerdown', onPointer, true)
      document.removeEventListener('keydown', onKey, true)
      observer.disconnect()
    }
  }, [])
}

function dialogOf(element: Element): Element | null {
  return element.closest('[role=dialog]')
}

function placeOf(element: HTMLElement): FocusPlace {
  const row = element.closest<HTMLElement>(rows)
  return {
    element,
    label: labelOf(element),
    table: row?.closest('section')?.getAttribute('aria-label'),
    row: row ? rowsOf(row.closest('section')).indexOf(row) : -1,
  }
}

function labelOf(element: HTMLElement): string {
  return element.getAttribute('aria-label') ?? element.innerText
}

/** Returns the element that receives the focus; undefined while there is none. */
function successorOf(
  { element, label, table, row }: FocusPlace,
  dialog: Element | null,
): HTMLElement | undefined {
  if (element.isConnected && !element.matches(endedButton)) return element
  const scope = dialog ?? document.body
  const list = table ? scope.querySelector(`section[aria-label="${CSS.escape(table)}"]`) : undefined
  const candidates = [...(list ?? scope).querySelectorAll<HTMLElement>(controls)]
  const found = label === '' ? undefined : candidates.find((other) => labelOf(other) === label)
  const same = element.isConnected ? element : found
  if (same?.matches(endedButton)) return controlBefore(same, candidates)
  if (same) return same
  const control = nearestControl(rowsOf(list), row)
  if (control) return control
  const heading = dialog ?? document.querySelector('h1')
  if (!(heading instanceof HTMLElement)) return undefined
  heading.tabIndex = -1
  return heading
}

/** Returns the nearest control before an element that can have the focus, otherwise the first one. */
function controlBefore(element: HTMLElement, candidates: readonly HTMLElement[]) {
  const usable = candidates.filter(
    (other) => other.tabIndex >= 0 && other.checkVisibility() && !other.matches(':disabled'),
  )
  const precedes = (other: HTMLElement): boolean =>
    (element.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING) !== 0
  return usable.findLast(precedes) ?? usable[0]
}

function rowsOf(list: Element | null | undefined): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>(rows) ?? [])]
}

/**
 * Returns the last control of the row at a position, or of the nearest row that has one; the row itself
 * if it can have the focus.
 */
function nearestControl(shown: readonly HTMLElement[], position: number): HTMLElement | undefined {
  const distanceOf = (index: number): number => Math.abs(index - position)
  const nearest = shown
    .map((row, index) => ({ row, distance: distanceOf(index) }))
    .toSorted((a, b) => a.distance - b.distance)
  for (const { row } of nearest) {
    if (row.matches(controls)) return row
    const control = [...row.querySelectorAll<HTMLElement>(controls)].at(-1)
    if (control) return control
  }
  return undefined
}
