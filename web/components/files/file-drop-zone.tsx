import { useState, type ReactNode } from 'react'

type Props = {
  readonly onDrop: (files: readonly File[]) => void
  readonly children: ReactNode
}

/** Receives files by drag and drop. Its content offers the same with a button, for the keyboard. */
export function FileDropZone({ onDrop, children }: Props) {
  const [isDragOver, setIsDragOver] = useState(false)
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className="fg-drop-zone"
      data-over={isDragOver ? '' : undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setIsDragOver(true)
      }}
      onDragLeave={() => setIsDragOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setIsDragOver(false)
        onDrop([...event.dataTransfer.files])
      }}
    >
      {children}
    </div>
  )
}
