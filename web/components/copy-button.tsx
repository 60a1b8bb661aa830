import { Button, Group } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

type Props = { readonly label: string; readonly text: string }

/**
 * Copies a text. Browsers allow clipboard access only on https or localhost. On other pages a hint
 * replaces the button.
 */
export function CopyButton({ text, label }: Props) {
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
      onClick={() => clipboard.copy(text)}
    >
      {clipboard.copied ? 'Copied' : 'Copy'}
    </Button>
  )
}

/** A value in the monospaced font with its copy button. */
export function CopyableText({ label, text }: Props) {
  return (
    <Group gap="xs" align="baseline">
      <span className="fg-mono">{text}</span>
      <CopyButton label={label} text={text} />
    </Group>
  )
}
