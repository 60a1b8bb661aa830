import { useEffect } from 'react'

/** Calls a function with the files of the clipboard when the user pastes them anywhere on the page. */
export function usePastedFiles(onPaste: (files: readonly File[]) => unknown): void {
  useEffect(() => {
    const onEvent = (event: ClipboardEvent): void => {
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length > 0) void onPaste(files)
    }
    window.addEventListener('paste', onEvent)
    return () => window.removeEventListener('paste', onEvent)
  }, [onPaste])
}
