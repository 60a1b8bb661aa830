/** The script of each page: the search, copy buttons, tabs and the list of sections. */
import { addCopyButtons } from './copy-buttons.ts'
import { selectTabs } from './select-tabs.ts'
import { startSearch } from './start-search.ts'

/** The address of the service in the examples. */
const exampleOrigin = 'http://127.0.0.1:8080'

/** From this width on, the style sheet places the list of sections beside the text. */
const wideScreen = '(min-width: 75rem)'

const { currentScript } = document
const isServed = location.protocol.startsWith('http')

if (isServed) showOwnAddress()
addCopyButtons()
selectTabs()
openOutline()
if (isServed && currentScript instanceof HTMLScriptElement)
  startSearch(new URL('.', currentScript.src))

/** The examples of a running service contain its address. */
function showOwnAddress(): void {
  for (const code of document.querySelectorAll('code'))
    if (code.textContent.includes(exampleOrigin))
      code.textContent = code.textContent.replaceAll(exampleOrigin, location.origin)
  for (const link of document.querySelectorAll<HTMLAnchorElement>(`a[href^="${exampleOrigin}"]`))
    link.href = link.href.replace(exampleOrigin, location.origin)
}

function openOutline(): void {
  const outline = document.querySelector<HTMLDetailsElement>('.outline details')
  if (outline && matchMedia(wideScreen).matches) outline.open = true
}
