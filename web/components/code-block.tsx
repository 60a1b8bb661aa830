import { Box, Button, Group } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'

type Props = { readonly label: string; readonly text: string }

/** Preformatted text with a copy button. */
export function CodeBlock({ label, text }: Props) {
  return (
    <Box miw={0}>
      <Group justify="space-between" mb={4}>
        <span className="fg-caption">{label}</span>
        <CopyButton text={text} label={label} />
      </Group>
      <pre className="fg-code" tabIndex={0} aria-label={label}>
        {text}
      </pre>
    </Box>
  )
}

/**
 * Copies a text. Browsers allow clipboard access only on https or localhost. On other pages a hint
 * replaces the button.
 */
function CopyButton({ text, label }: Props) {
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
