import { useClipboard } from '@mantine/hooks'

type Props = { readonly label: string; readonly text: string }

/**
 * Copies a text of a row. A plain button, because a page of a list has up to 200 of them. Browsers
 * allow clipboard access only on https or localhost; elsewhere there is no button.
 */
export function RowCopyButton({ label, text }: Props) {
  const clipboard = useClipboard({ timeout: 2000 })
  if (!window.isSecureContext) return null
  return (
    <button type="button" className="fg-row-button" onClick={() => clipboard.copy(text)}>
      {clipboard.copied ? 'Copied' : `Copy ${label}`}
    </button>
  )
}
