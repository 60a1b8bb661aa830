import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ReactNode } from 'react'

type Props = ButtonProps & { readonly children: ReactNode }

/** A link with the style of a button. */
export const LinkButton = createLink((props: Props) => <Button component="a" {...props} />)
