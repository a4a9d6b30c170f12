// SPDX-License-Identifier: BSD-3-Clause
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const TYPING = 200;

/** A text field whose value holds after Enter, when it is left or, if it is live, while it is typed. */
export function Field(props: { label: string; value: string; placeholder: string; title: string; onChange: (value: string) => void; id?: string; class?: string; isLive?: boolean; onEnter?: () => void }): JSX.Element {
  const [text, setText] = useState(props.value);
  const timer = useRef(0);
  // What is typed stays as it is while the page follows it.
  useEffect(() => setText((now) => (now.trim() === props.value ? now : props.value)), [props.value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const done = (): void => {
    clearTimeout(timer.current);
    if (text.trim() !== props.value) props.onChange(text.trim());
  };
  return (
    <input
      type="text" id={props.id} class={props.class} aria-label={props.label} placeholder={props.placeholder} title={props.title} value={text} spellcheck={false} autocomplete="off"
      onInput={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        clearTimeout(timer.current);
        if (props.isLive) timer.current = window.setTimeout(() => props.onChange(typed.trim()), TYPING);
      }}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key === 'Enter') {
          done();
          props.onEnter?.();
        }
        if (event.key === 'Escape') {
          clearTimeout(timer.current);
          setText('');
          if (props.value !== '') props.onChange('');
          event.currentTarget.blur();
        }
      }}
    />
  );
}
