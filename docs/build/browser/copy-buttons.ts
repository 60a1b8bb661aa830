const shownMs = 2000

/** Adds a button to each code block. Browsers allow clipboard access only on https or localhost. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLPreElement>('main pre')) {
    const frame = document.createElement('div')
    frame.className = 'code'
    block.replaceWith(frame)
    frame.append(block, createButton(block))
  }
}

function createButton(block: HTMLPreElement): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  const copy = async (): Promise<void> => {
    button.textContent = (await copyText(block)) ? 'Copied' : 'Press Ctrl+C'
    setTimeout(() => (button.textContent = 'Copy'), shownMs)
  }
  button.addEventListener('click', () => void copy())
  return button
}

/** @returns false if the browser does not permit it; the code is then selected. */
async function copyText(block: HTMLPreElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(block.textContent)
    return true
  } catch {
    getSelection()?.selectAllChildren(block)
    return false
  }
}
