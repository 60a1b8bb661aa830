const storageKey = 'facegate-docs-language'

/** All examples of a page show the selected language, also on the next pages. */
export function selectTabs(): void {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('.tabs > input')]
  const select = (language: string): void => {
    for (const input of inputs) if (input.value === language) input.checked = true
  }
  const stored = localStorage.getItem(storageKey)
  if (stored !== null) select(stored)
  for (const input of inputs)
    input.addEventListener('change', () => {
      localStorage.setItem(storageKey, input.value)
      const topBefore = input.getBoundingClientRect().top
      select(input.value)
      // Examples above this one may have another height now.
      scrollBy({ top: input.getBoundingClientRect().top - topBefore, behavior: 'instant' })
    })
}
