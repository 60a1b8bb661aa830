import { Box, Group } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

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
