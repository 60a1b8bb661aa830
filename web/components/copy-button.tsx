import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

type Props = {
  readonly text: string
  /** Names the copied text for screen readers. */
  readonly label: string
  readonly onCopied?: () => void
}

/**
 * Copies a text. Browsers allow clipboard access only on https or localhost. On other pages a hint
 * replaces the button.
 */
export function CopyButton({ text, label, onCopied }: Props) {
  const clipboard = useClipboard({ timeout: 2000 })
  if (!window.isSecureContext) return <span className="fg-caption">Select to copy</span>
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Copy ${label}`}
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
