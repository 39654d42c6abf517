import { mount } from 'svelte';
import '../look/base.css';
import Studio from './Studio.svelte';

mount(Studio, { target: document.body });
