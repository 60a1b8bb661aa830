import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

type Props = {
  readonly text: string
  /** What is copied, for those who hear the button. */
  readonly label: string
  readonly onCopied?: () => void
}

/**
 * Copies a text. Browsers hand the clipboard only to pages served safely (https or localhost);
 * elsewhere the button says that the text has to be selected by hand.
 */
export function CopyButton({ text, label: what, onCopied }: Props) {
  const clipboard = useClipboard({ timeout: 2000 })
  if (!window.isSecureContext) return <span className="fg-eyebrow">select and copy</span>
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Copy: ${what}`}
      leftSection={
        clipboard.copied ? <IconCheck size={13} aria-hidden /> : <IconCopy size={13} aria-hidden />
      }
      onClick={() => {
        clipboard.copy(text)
        onCopied?.()
      }}
    >
      {clipboard.copied ? 'Copied' : 'Copy'}
    </Button>
  )
}
